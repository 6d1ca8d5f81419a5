export { parseTrainConfig, readTrainConfig, type ReadTrainConfigOptions } from "./parse.ts";
export type { TrainConfig, TrainConfigInput } from "./schema.ts";

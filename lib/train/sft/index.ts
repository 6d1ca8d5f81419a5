export { type SftConfig, type SftResult, trainSft } from "./train.ts";

import type { TrainConfigInput } from "../config/schema.ts";
import type { RlOptions, RlResult } from "./types.ts";

/** Fine-tunes a policy by RL with process and verifiable rewards. */
export declare function trainRl(config: TrainConfigInput, options: RlOptions): Promise<RlResult>;

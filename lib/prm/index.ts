/**
 * Process reward models: from a checkpoint to the rewards of each step, and what is done with them.
 *
 * @packageDocumentation
 */
export * from "../errors.ts";
export type { InputRow } from "./inputs/input.ts";
export * from "./aggregate.ts";
export * from "./convention.ts";
export * from "./create.ts";
export * from "./detect.ts";
export * from "./families.ts";
export * from "./files/score-file.ts";
export * from "./files/select-rows.ts";
export * from "./items.ts";
export * from "./load.ts";
export * from "./prepare.ts";
export * from "./prm.ts";
export * from "./prmbench.ts";
export * from "./processbench.ts";
export * from "./quantization.ts";
export * from "./range.ts";
export * from "./search.ts";
export * from "../select.ts";
export * from "./steps.ts";

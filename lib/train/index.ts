/**
 * Training: the engine, and the embedded task.
 *
 * @packageDocumentation
 */
export * from "../errors.ts";
export * from "./arithmetic/index.ts";
export * from "./engine/index.ts";
export * from "./curriculum/index.ts";
export * from "./guard/index.ts";
export * from "./online/index.ts";
export * from "./tasks/index.ts";
export * from "./experiment/index.ts";
export * from "./live/index.ts";
export * from "./sinks/index.ts";
export * from "./config/index.ts";
export * from "./rl/index.ts";
export * from "./batches.ts";
export * from "./data/index.ts";
export * from "./prm/index.ts";
export * from "./pure/index.ts";
export * from "./run/index.ts";
export * from "./schedule.ts";
export * from "./sft/index.ts";
export { type ChatTurn, openCodec, promptIds, type TextCodec } from "./text/codec.ts";

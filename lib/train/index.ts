/**
 * Training: the engine, and the embedded task.
 *
 * @packageDocumentation
 */
export * from "./arithmetic/index.ts";
export * from "./engine/index.ts";

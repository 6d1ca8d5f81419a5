/**
 * Training: the embedded task.
 *
 * @packageDocumentation
 */
export * from "./arithmetic/index.ts";

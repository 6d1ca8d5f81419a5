export * from "./linear.ts";
export * from "./logits.ts";
export type * from "./types.ts";

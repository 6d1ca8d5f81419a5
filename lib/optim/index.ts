export * from "./adamw.ts";
export * from "./norm.ts";

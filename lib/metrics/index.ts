export * from "./reflection.ts";
export * from "./repetition.ts";

export * from "./repetition.ts";

export * from "./adamw.ts";
export * from "./norm.ts";
export type { TensorList } from "./tensors.ts";

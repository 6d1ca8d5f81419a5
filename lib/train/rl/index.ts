export { engineGenerator } from "./generator.ts";
export { trainRl } from "./loop.ts";
export type * from "./types.ts";

export { Gpu, type DeviceTypeOf, type GpuMemory } from "./gpu.ts";
export { cuda } from "./open.ts";
export type { DeviceValue, PlacedValue } from "./value.ts";
export { type DeviceArrays, DeviceTensor, type DeviceType } from "./tensor.ts";

export { type PromptKeys, type PromptRow, readPrompts, type ReadPromptsOptions } from "./prompts.ts";
export { mixtureRows, readSftRows, type SftRow } from "./sft.ts";
export { readStepwiseRows, type StepwiseRow } from "./stepwise.ts";

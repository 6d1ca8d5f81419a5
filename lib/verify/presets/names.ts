/** @internal Names of the graders, for messages and options. */
export const graderNames = ["default", "hendrycks", "prime", "qwen", "qwen-minerva"] as const;

/** A grader's name: `default` is this library's own, the others are peers'. */
export type GraderName = (typeof graderNames)[number];

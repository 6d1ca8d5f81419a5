import { ArgumentError } from "../../errors.ts";
import { describe } from "../../validate.ts";

const PLACE = "{prompt}";

/** @internal Whether a text holds the place of the prompt once. */
export function isTemplate(text: string): boolean {
  return text.split(PLACE).length === 2;
}

/** @internal What is wrong with what is no template. */
export function templateFault(template: unknown): string {
  return `expected a text that holds ${PLACE} once, got ${describe(template)}`;
}

/** @internal Throws for what is no template. */
export function assertTemplate(template: unknown): asserts template is string {
  if (typeof template === "string" && isTemplate(template)) return;
  throw new ArgumentError("ERR_ARGUMENT_VALUE", `template: ${templateFault(template)}`);
}

/** @internal A template with the prompt in its place. */
export function fillTemplate(template: string, prompt: string): string {
  return template.replace(PLACE, () => prompt); // of a text, `$&` and the like would be read
}

import { InputError } from "../errors.ts";
import { readYaml } from "../train/config/parse.ts";
import { trainSchema } from "../train/config/schema.ts";
import { experimentSchema } from "../train/experiment/read.ts";
import { prmSchema } from "../train/prm/config.ts";
import { sftSchema } from "../train/sft/config.ts";

const SCHEMAS = {
  sft: sftSchema,
  "train-prm": prmSchema,
  train: trainSchema,
  experiment: experimentSchema,
} as const;

/** @internal Reads a command's config; where it is wrong, but right for another command, the error says so. */
export async function readConfigOf<T>(
  command: keyof typeof SCHEMAS,
  file: string,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const others = error instanceof InputError ? await takersOf(file) : [];
    if (others.length === 0 || others.includes(command)) throw error;
    const names = others.map((other) => `minform ${other}`).join(" or ");
    const message = `${(error as InputError).message}\nthis looks like a config of ${names}`;
    throw new InputError("ERR_INPUT", message, { cause: error });
  }
}

// The commands whose config a file may be.
async function takersOf(file: string): Promise<string[]> {
  const value = await readYaml(file).catch(() => undefined);
  if (value === undefined) return [];
  return Object.entries(SCHEMAS).flatMap(([command, schema]) =>
    schema.safeParse(value).success ? [command] : [],
  );
}

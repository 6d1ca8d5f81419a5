import { MinformError } from "../../errors.ts";

/** @internal Puts the step before the message of an error of this library; its kind and code stay. */
export async function atStep<T>(step: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof MinformError) error.message = `step ${step}: ${error.message}`;
    throw error;
  }
}

import { MinformError } from "../../errors.ts";

/** @internal Puts the key of the config before the message of an error of this library; its kind and code stay. */
export async function atKey<T>(key: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof MinformError) error.message = `${key}: ${error.message}`;
    throw error;
  }
}

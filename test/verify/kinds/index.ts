// Pairs of every kind of answer, written for these tests.
import { collections } from "./collections.ts";
import { constants } from "./constants.ts";
import { expressions } from "./expressions.ts";
import { measures } from "./measures.ts";
import { numbers } from "./numbers.ts";
import { relations } from "./relations.ts";
import { sets } from "./sets.ts";
import { words } from "./words.ts";
import type { Kind } from "./kind.ts";

export const kinds: Readonly<Record<string, Kind>> = {
  ...numbers,
  ...measures,
  ...constants,
  ...expressions,
  ...collections,
  ...sets,
  ...relations,
  ...words,
};

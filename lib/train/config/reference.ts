import type * as z from "zod";
import { describeKeys, type KeyInfo } from "./keys.ts";

/** @internal The keys of a config as a page in Markdown: a table per section, generated from the schema. */
export function configReference(title: string, intro: string, schema: z.ZodType): string {
  const keys = describeKeys(schema);
  const sections = keys.filter(({ isSection, path }) => isSection && !path.includes("."));
  const isInside = (path: string) => sections.some((one) => path.startsWith(`${one.path}.`));
  const plain = keys.filter(({ path, isSection }) => !isSection && !isInside(path));
  return [
    `---\ntitle: ${title}\n---\n\n# ${title}\n\n${intro}\n`,
    table(plain),
    ...sections.map(({ path, description }) => {
      const inside = keys.filter((key) => key.path.startsWith(`${path}.`) && !key.isSection);
      return `\n## ${path}\n\n${description}\n\n${table(inside)}`;
    }),
  ].join("\n");
}

function table(keys: readonly KeyInfo[]): string {
  const rows = keys.map(
    ({ path, type, fallback, description }) =>
      `| \`${path}\` | ${type} | ${fallback === undefined ? "" : `\`${fallback}\``} | ${description} |`,
  );
  return ["| key | takes | default | |", "|---|---|---|---|", ...rows, ""].join("\n").replace(/\n$/, "");
}

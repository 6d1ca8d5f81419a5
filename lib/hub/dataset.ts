import { join } from "node:path";
import { InputError } from "../errors.ts";
import type { HubId, HubOptions } from "./hub.ts";
import { exists } from "./cache.ts";
import { repositorySnapshot } from "./repository.ts";

const DATA = /\.(jsonl|json|parquet)$/i;

/**
 * @internal A data file of a dataset repository, in the standard cache; see {@link repositorySnapshot}. The hub is asked
 * what there is unless the file is named and cached.
 *
 * @param file - its path inside the repository; default: the only data file, or the only one that is named after the
 * test split
 * @throws InputError `ERR_INPUT` naming the repository; without a certain choice, listing its data files
 */
export async function locateDatasetFile(
  id: HubId,
  file: string | undefined,
  options: HubOptions = {},
): Promise<string> {
  if (file?.split("/").includes(".."))
    throw new InputError("ERR_INPUT", `${id.name}: expected a file of the repository, got ${file}`);
  let chosen = file;
  const at = (folder: string, path: string) => join(folder, ...path.split("/"));
  const folder = await repositorySnapshot(
    { ...id, kind: "dataset" },
    {
      isComplete: async (cached) => file !== undefined && (await exists(at(cached, file))),
      async fetch({ paths, get, missing }) {
        const data = paths.filter((path) => DATA.test(path));
        chosen = file ?? only(data) ?? only(data.filter(isTest));
        if (chosen === undefined || !paths.includes(chosen)) {
          const wanted = file ?? "one data file, or one for the test split";
          throw missing(
            `expected ${wanted}, found ${data.join(", ") || "none"}; choose with ${id.name}#<file>`,
          );
        }
        await get(chosen);
      },
    },
    options,
  );
  return at(folder, chosen!);
}

function only(paths: readonly string[]): string | undefined {
  return paths.length === 1 ? paths[0] : undefined;
}

// The split's name stands alone in the path: test.jsonl, data/test-00000-of-00001.parquet, test/rows.json.
function isTest(path: string): boolean {
  return /(^|[/_-])test([-_./]|$)/i.test(path);
}

// Which folder of lib may import which: data flows one way, and what two of them need lies below both.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const lib = fileURLToPath(new URL("../../lib/", import.meta.url));
const PRIMITIVES = "addon advantage credit logprob loss metrics optim presets quant sampling".split(" ");

/** Folders that a folder may import besides its own and the files of lib itself. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  files: [],
  hub: [],
  model: ["files", "hub", "quant"],
  prm: ["files", "model", "quant"],
  verify: ["files", "hub"],
  rollouts: ["files", ...PRIMITIVES],
  train: ["files", "hub", "model", "prm", "verify", ...PRIMITIVES],
};

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Folders of lib that a file imports, its own aside. */
function imported(file: string, own: string): string[] {
  const text = readFileSync(file, "utf8");
  const paths = [...text.matchAll(/(?:from|import\()\s*"(\.[^"]*)"/g)].map(([, path]) =>
    relative(lib, resolve(file, "..", path!)),
  );
  return paths
    .filter((path) => path.includes("/"))
    .map((path) => path.split("/")[0]!)
    .filter((folder) => folder !== own);
}

describe("layers", () => {
  it.each(Object.entries(ALLOWED))("%s imports nothing above or beside it", (own, allowed) => {
    const files = sources(join(lib, own));
    expect(files.length).toBeGreaterThan(0);
    const wrong = files.flatMap((file) =>
      imported(file, own)
        .filter((folder) => !allowed.includes(folder))
        .map((folder) => `${relative(lib, file)} -> ${folder}`),
    );
    expect(wrong).toEqual([]);
  });
});

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

// Every module that the built entry point reaches by static imports.
function bareImports(entry: URL, seen = new Set<string>(), bare = new Set<string>()): Set<string> {
  if (seen.has(entry.href)) return bare;
  seen.add(entry.href);
  for (const [, specifier] of readFileSync(entry, "utf8").matchAll(
    /^(?:import|export)\b[^"';]*?\bfrom\s*["']([^"']+)["']/gms,
  )) {
    if (specifier!.startsWith(".")) bareImports(new URL(specifier!, entry), seen, bare);
    else bare.add(specifier!);
  }
  return bare;
}

describe("package", () => {
  it("the root import loads nothing but the package and Node's own modules", () => {
    const foreign = [...bareImports(new URL("../../dist/index.js", import.meta.url))].filter(
      (name) => !name.startsWith("node:"),
    );
    expect(foreign).toEqual([]);
  });

  it("the command starts with its options alone: tokenizers, runtime and schemas wait for who needs them", () => {
    const foreign = [...bareImports(new URL("../../dist/cli/main.js", import.meta.url))].filter(
      (name) => !name.startsWith("node:"),
    );
    expect(foreign).toEqual(["commander"]);
  });

  it("no built file imports a source file", () => {
    const dist = new URL("../../dist/", import.meta.url);
    const built = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".js"),
    );
    expect(built.length).toBeGreaterThan(50);
    for (const name of built)
      expect(readFileSync(new URL(name, dist), "utf8"), name).not.toMatch(/(?:from |import\()"[^"]*\.ts"/);
  });

  it("has no top-level await, which would break require()", () => {
    const { exports } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
      exports: Record<string, string | { default: string }>;
    };
    for (const target of Object.values(exports)) {
      if (typeof target === "string") continue;
      const source = readFileSync(new URL(`../../${target.default}`, import.meta.url), "utf8");
      expect(source).not.toMatch(/^\s*(?:const .*= )?await\b/m);
    }
  });
});

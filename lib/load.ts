import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Addon } from "./addon.ts";
import { AddonError } from "./errors.ts";
import { nativeError } from "./native-error.ts";

const require = createRequire(import.meta.url);
let loaded: Addon | undefined;

/**
 * @internal The native addon, loaded on first use: `MINFORM_ADDON_PATH` when set, else the package's own build.
 *
 * @throws {@link AddonError} `ERR_ADDON` with every path tried and what to do
 */
export function addon(): Addon {
  loaded ??= load();
  return loaded;
}

function load(): Addon {
  const fromEnvironment = process.env.MINFORM_ADDON_PATH;
  const path = fromEnvironment || fileURLToPath(new URL("../build/Release/minform.node", import.meta.url));
  let native: Addon;
  try {
    native = require(path) as Addon;
  } catch (cause) {
    const advice = fromEnvironment
      ? "MINFORM_ADDON_PATH must name a minform.node built for this platform."
      : "Build it with: npm install cmake-js node-addon-api && npm explore minform -- npm run build:native";
    throw new AddonError(
      "ERR_ADDON",
      `the native addon cannot be loaded from ${path} (${process.platform}-${process.arch}, Node ${process.versions.node}): ${(cause as Error).message}. ${advice}`,
      { cause },
    );
  }
  const { isaCapError } = native.capabilities();
  if (isaCapError !== undefined) {
    throw new AddonError(
      "ERR_ADDON",
      `MINFORM_ISA: expected "baseline", "avx2" or "avx512", got ${JSON.stringify(isaCapError)}`,
    );
  }
  return guarded(native);
}

// Whatever native code throws (out of memory, a check of the glue) reaches callers as an AddonError or a DeviceError.
function guarded(native: Addon): Addon {
  const guard = (name: string, value: unknown): unknown => {
    if (typeof value !== "function") {
      return Object.fromEntries(
        Object.entries(value as object).map(([key, inner]) => [key, guard(`${name}.${key}`, inner)]),
      );
    }
    return (...args: unknown[]) => {
      try {
        return value(...args);
      } catch (cause) {
        throw nativeError(`native ${name}`, cause);
      }
    };
  };
  return Object.fromEntries(
    Object.entries(native).map(([name, value]) => [name, guard(name, value)]),
  ) as unknown as Addon;
}

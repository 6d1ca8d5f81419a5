// The addon whose device is the emulator: built by `npm run test:native`, which needs no GPU.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe } from "vitest";

export const EMULATED = fileURLToPath(
  new URL("../../build-native/release/bindings/minform.node", import.meta.url),
);

/**
 * A suite on the emulated device. Vitest runs every file in a process of its own, and the addon is loaded by the first
 * call, so the path set here holds for this file alone. Skips, saying why, where that addon has not been built.
 *
 * @param settings - of the emulator: MINFORM_SIMT_MEMORY, MINFORM_SIMT_LOST_AFTER
 */
export function describeEmulated(
  name: string,
  suite: () => void,
  settings: Record<string, string> = {},
): void {
  const built = existsSync(EMULATED);
  if (!built) console.warn(`skipped: ${name}: no ${EMULATED} (npm run test:native builds it)`);
  Object.assign(process.env, { MINFORM_ADDON_PATH: EMULATED }, settings);
  describe.skipIf(!built)(name, suite);
}

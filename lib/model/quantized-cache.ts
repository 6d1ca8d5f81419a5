import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { BLOCK, type Bits } from "../quant/rows.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { Decoder } from "./decoder.ts";
import {
  type QuantizeOptions,
  type Region,
  regionsOf,
  type Source,
  writeQuantized,
} from "./quantized-file.ts";
import { readSafetensorsHeader, type TensorEntry } from "./safetensors.ts";

/** @internal A quantised weight in the cache. */
export interface QuantizedWeight {
  readonly bits: Bits;
  readonly packed: TensorEntry;
  readonly scales: TensorEntry;
}

// Raised when the arithmetic or the layout changes, so that old files are not taken for new ones.
const VERSION = 2;

/**
 * @internal The layers' weights, quantised: from the cache, or quantised now and written there. One file per
 * checkpoint and number of bits, in `MINFORM_CACHE` or `~/.cache/minform`. A checkpoint is known by paths, sizes and
 * times of its files; a cached file whose size or tensors are not what they should be is written anew.
 *
 * @throws as {@link writeQuantized}
 */
export async function quantizedWeights(
  { tensors, path }: Checkpoint,
  decoder: Decoder,
  bits: Bits,
  options: QuantizeOptions = {},
): Promise<ReadonlyMap<TensorEntry, QuantizedWeight>> {
  options.signal?.throwIfAborted();
  const names = new Map([...tensors].map(([name, entry]) => [entry, name]));
  const sources = decoder.layers.flatMap(({ q, k, v, o, gate, up, down }) =>
    [q, k, v, o, gate, up, down].map(({ weight }): Source => ({ weight, name: names.get(weight)! })),
  );
  const file = await cacheFile(sources, bits);
  const regions = sources.flatMap((source) => regionsOf(source, bits));
  let stored = await readCached(file, regions);
  if (stored === undefined) {
    await writeQuantized(file, sources, bits, path, options);
    stored = await readSafetensorsHeader(file);
  }
  return new Map(
    sources.map(({ weight, name }) => {
      const [packed, scales] = [stored.get(name)!, stored.get(`${name}.scales`)!];
      return [weight, { bits, packed, scales }];
    }),
  );
}

async function cacheFile(sources: readonly Source[], bits: Bits): Promise<string> {
  const { MINFORM_CACHE, XDG_CACHE_HOME } = process.env;
  const folder = MINFORM_CACHE || join(XDG_CACHE_HOME || join(homedir(), ".cache"), "minform");
  const hash = createHash("sha256").update(`${VERSION} ${bits} ${BLOCK}`);
  for (const file of [...new Set(sources.map(({ weight }) => weight.file))].sort()) {
    // The time of the inode as well: copies and archives bring the old time of the content with them.
    const { size, mtimeMs, ctimeMs } = await stat(file);
    hash.update(`\0${file}\0${size}\0${mtimeMs}\0${ctimeMs}`);
  }
  return join(folder, "quantized", `${hash.digest("hex").slice(0, 32)}-int${bits}.safetensors`);
}

// The header must account for every byte of the file; what it describes must be what would be written now.
async function readCached(
  file: string,
  regions: readonly Region[],
): Promise<Map<string, TensorEntry> | undefined> {
  const stored = await readSafetensorsHeader(file).catch(() => undefined);
  const same = ({ name, type, shape }: Region): boolean => {
    const found = stored?.get(name);
    return found?.type === type && found.shape.join() === shape.join();
  };
  return stored?.size === regions.length && regions.every(same) ? stored : undefined;
}

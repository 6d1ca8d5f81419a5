const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/** @internal What a JSON text would cost to parse. */
export interface JsonScan {
  /** Deepest nesting of objects and lists. */
  readonly depth: number;
  /** Commas outside of lists of numbers: those at depth 1 and 2. */
  readonly separators: number;
}

/** @internal Measures a JSON text without building anything from it: a parser takes seconds per million of keys. */
export function scanJson(bytes: Uint8Array): JsonScan {
  let [level, depth, separators] = [0, 0, 0];
  let inText = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (inText) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) inText = false;
    } else if (byte === QUOTE) inText = true;
    else if (byte === COMMA && level <= 2) separators++;
    // { and [, } and ]: one bit apart
    else if ((byte | 0x20) === 0x7b) depth = Math.max(depth, ++level);
    else if ((byte | 0x20) === 0x7d) level--;
  }
  return { depth, separators };
}

import { crc32 } from "node:zlib";
import { bytesOf, fieldsOf, numberOf, textOf } from "./protobuf.ts";

interface WandbRecord {
  num: number;
  history?: Record<string, unknown>;
  summary?: Record<string, unknown>;
  run?: { project: string; displayName: string; resumed: boolean; config: Record<string, unknown> };
  exit: boolean;
}

/** The records of a `.wandb` file, framing and checksums checked. */
export function readWandb(file: Buffer): WandbRecord[] {
  if (file.toString("latin1", 0, 7) !== ":W&B\xe1\xbe\0") throw new Error("not a .wandb file");
  const records: WandbRecord[] = [];
  let parts: Buffer[] = [];
  for (let at = 7; at < file.length; ) {
    const room = 32768 - (at % 32768);
    if (room < 7) {
      at += room;
      continue;
    }
    const length = file.readUInt16LE(at + 4);
    const type = file[at + 6]!;
    const end = at + 7 + length;
    if (end > at + room) throw new Error("a frame beyond its block");
    if (crc32(file.subarray(at + 6, end)) !== file.readUInt32LE(at)) throw new Error("checksum of a frame");
    if ((type === 1 || type === 2) !== (parts.length === 0)) throw new Error(`a frame of type ${type} here`);
    parts.push(file.subarray(at + 7, end));
    if (type === 1 || type === 4) {
      records.push(recordOf(Buffer.concat(parts)));
      parts = [];
    }
    at = end;
  }
  if (parts.length > 0) throw new Error("a record that does not end");
  return records;
}

function recordOf(payload: Uint8Array): WandbRecord {
  const fields = fieldsOf(payload);
  const part = (id: number) =>
    fields.some((field) => field.id === id) ? fieldsOf(bytesOf(fields, id)) : undefined;
  const [history, summary, run] = [part(2), part(3), part(17)];
  return {
    num: numberOf(fields, 1),
    exit: part(18) !== undefined,
    ...(history && { history: items(history) }),
    ...(summary && { summary: items(summary) }),
    ...(run && {
      run: {
        project: textOf(run, 3),
        displayName: textOf(run, 8),
        resumed: numberOf(run, 18) === 1,
        config: items(fieldsOf(bytesOf(run, 4))),
      },
    }),
  };
}

// Numbers that JSON does not have stay words.
function items(fields: ReturnType<typeof fieldsOf>): Record<string, unknown> {
  const pairs = fields.filter(({ id }) => id === 1).map(({ value }) => fieldsOf(value as Uint8Array));
  return Object.fromEntries(
    pairs.map((pair) => {
      const text = textOf(pair, 16);
      return [textOf(pair, 1), /^(NaN|-?Infinity)$/.test(text) ? text : JSON.parse(text)];
    }),
  );
}

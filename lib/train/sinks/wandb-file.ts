import { crc32 } from "node:zlib";
import protobuf from "protobufjs/light.js";
import { AppendFile } from "./append-file.ts";

const item = {
  fields: { key: { type: "string", id: 1 }, valueJson: { type: "string", id: 16 } },
};
const items = (name: string) => ({ rule: "repeated", type: name, id: 1 });

// The fields of wandb_internal.proto that a run of scalars needs.
const { Record: RecordType } = protobuf.Root.fromJSON({
  nested: {
    Record: {
      oneofs: { what: { oneof: ["history", "summary", "run", "exit", "header"] } },
      fields: {
        num: { type: "int64", id: 1 },
        history: { type: "History", id: 2 },
        summary: { type: "Items", id: 3 },
        run: { type: "Run", id: 17 },
        exit: { type: "Exit", id: 18 },
        header: { type: "Header", id: 21 },
      },
    },
    Item: item,
    Items: { fields: { update: items("Item") } },
    History: { fields: { item: items("Item"), step: { type: "Step", id: 2 } } },
    Step: { fields: { num: { type: "int64", id: 1 } } },
    Run: {
      fields: {
        runId: { type: "string", id: 1 },
        project: { type: "string", id: 3 },
        config: { type: "Items", id: 4 },
        displayName: { type: "string", id: 8 },
        startTime: { type: "Timestamp", id: 17 },
        resumed: { type: "bool", id: 18 },
      },
    },
    Timestamp: { fields: { seconds: { type: "int64", id: 1 }, nanos: { type: "int32", id: 2 } } },
    Exit: { fields: { exitCode: { type: "int32", id: 1 }, runtime: { type: "int32", id: 2 } } },
    Header: { fields: { versionInfo: { type: "Version", id: 1 } } },
    Version: { fields: { producer: { type: "string", id: 1 }, minConsumer: { type: "string", id: 2 } } },
  },
}).nested as unknown as { Record: protobuf.Type };

/** @internal Values under their keys, as the file has them. */
export function itemsOf(values: Readonly<Record<string, unknown>>): { key: string; valueJson: string }[] {
  return Object.entries(values).map(([key, value]) => ({
    key,
    // Beyond JSON: the reader takes these three words.
    valueJson:
      typeof value === "number" && !Number.isFinite(value)
        ? String(value)
        : (JSON.stringify(value) ?? "null"),
  }));
}

const BLOCK = 32768;
const HEAD = 7;
const PART = { full: 1, first: 2, middle: 3, last: 4 } as const;

/**
 * @internal A `.wandb` file: `Record` messages in LevelDB's log format (blocks of 32 KiB; a record that does not fit goes
 * on in the next block) behind seven bytes of its own, with plain CRC-32 checksums.
 */
export class WandbFile {
  readonly #file: AppendFile;
  #records = 0;

  /** @throws {@link InputError} `ERR_INPUT` when nothing can be written there */
  constructor(path: string) {
    this.#file = new AppendFile(path);
    this.#file.append(Uint8Array.from([...Buffer.from(":W&B"), 0xe1, 0xbe, 0]));
  }

  write(record: object): void {
    const payload = RecordType.encode({ num: ++this.#records, ...record }).finish();
    let at = 0;
    let begun = false;
    do {
      let room = BLOCK - (this.#file.length % BLOCK);
      if (room < HEAD) {
        this.#file.append(new Uint8Array(room));
        room = BLOCK;
      }
      const end = Math.min(payload.length, at + room - HEAD);
      const whole = end === payload.length;
      const part = begun ? (whole ? PART.last : PART.middle) : whole ? PART.full : PART.first;
      this.#file.append(frame(part, payload.subarray(at, end)));
      begun = true;
      at = end;
    } while (at < payload.length);
  }

  close(): void {
    this.#file.close();
  }
}

function frame(part: number, data: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(HEAD + data.length);
  bytes.writeUInt16LE(data.length, 4);
  bytes.writeUInt8(part, 6);
  bytes.set(data, HEAD);
  bytes.writeUInt32LE(crc32(bytes.subarray(6)));
  return bytes;
}

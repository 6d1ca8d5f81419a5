import { hostname } from "node:os";
import { join } from "node:path";
import protobuf from "protobufjs/light.js";
import { AppendFile } from "./append-file.ts";
import { maskedCrc32c } from "./crc32c.ts";
import type { MetricSink } from "./sink.ts";

// The fields of tensorboard's event.proto and summary.proto that scalars need.
const { Event } = protobuf.Root.fromJSON({
  nested: {
    Event: {
      oneofs: { what: { oneof: ["fileVersion", "summary", "sessionLog"] } },
      fields: {
        wallTime: { type: "double", id: 1 },
        step: { type: "int64", id: 2 },
        fileVersion: { type: "string", id: 3 },
        summary: { type: "Summary", id: 5 },
        sessionLog: { type: "SessionLog", id: 7 },
      },
    },
    Summary: { fields: { value: { rule: "repeated", type: "Scalar", id: 1 } } },
    Scalar: {
      // Being one of several it is written when it is 0, too.
      oneofs: { value: { oneof: ["simpleValue"] } },
      fields: { tag: { type: "string", id: 1 }, simpleValue: { type: "float", id: 2 } },
    },
    SessionLog: { fields: { status: { type: "int32", id: 1 } } },
  },
}).nested as unknown as { Event: protobuf.Type };

const SESSION_START = 1;
let files = 0;

/**
 * @internal Scalars in a TensorBoard event file: TFRecords of `Event` messages, one per step. A run that goes on writes
 * another file, which begins by taking back the steps that it will write again.
 */
export class TensorBoardSink implements MetricSink {
  readonly #file: AppendFile;

  /** @throws {@link InputError} `ERR_INPUT` when nothing can be written there */
  constructor(folder: string, resumedAfter?: number) {
    const second = String(Math.floor(Date.now() / 1000)).padStart(10, "0");
    const name = `events.out.tfevents.${second}.${hostname()}.${process.pid}.${files++}.v2`;
    this.#file = new AppendFile(join(folder, name));
    this.#write({ fileVersion: "brain.Event:2" });
    if (resumedAfter !== undefined)
      this.#write({ step: resumedAfter + 1, sessionLog: { status: SESSION_START } });
  }

  log(step: number, metrics: Readonly<Record<string, number>>): void {
    const value = Object.entries(metrics).map(([tag, simpleValue]) => ({ tag, simpleValue }));
    this.#write({ step, summary: { value } });
  }

  async close(): Promise<void> {
    this.#file.close();
  }

  #write(event: object): void {
    this.#file.append(record(Event.encode({ wallTime: Date.now() / 1000, ...event }).finish()));
  }
}

// uint64 length, its checksum, the bytes, their checksum; little-endian.
function record(payload: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(16 + payload.length);
  bytes.writeBigUInt64LE(BigInt(payload.length));
  bytes.writeUInt32LE(maskedCrc32c(bytes.subarray(0, 8)), 8);
  bytes.set(payload, 12);
  bytes.writeUInt32LE(maskedCrc32c(payload), 12 + payload.length);
  return bytes;
}

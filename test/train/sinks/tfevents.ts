import { bytesOf, fieldsOf, numberOf, textOf } from "./protobuf.ts";

interface TfEvent {
  wallTime: number;
  step: number;
  fileVersion: string;
  restart: boolean;
  scalars: Record<string, number>;
}

// Bit by bit, as the polynomial says.
function masked(bytes: Uint8Array): number {
  let crc = 0xffffffffn;
  for (const byte of bytes) {
    crc ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? (crc >> 1n) ^ 0x82f63b78n : crc >> 1n;
  }
  crc ^= 0xffffffffn;
  return Number((((crc >> 15n) | (crc << 17n)) + 0xa282ead8n) & 0xffffffffn);
}

/** The events of a TFRecord file, checksums checked. */
export function readEvents(file: Buffer): TfEvent[] {
  const events: TfEvent[] = [];
  for (let at = 0; at < file.length; ) {
    const length = Number(file.readBigUInt64LE(at));
    if (masked(file.subarray(at, at + 8)) !== file.readUInt32LE(at + 8))
      throw new Error("checksum of a length");
    const payload = file.subarray(at + 12, at + 12 + length);
    if (masked(payload) !== file.readUInt32LE(at + 12 + length)) throw new Error("checksum of a record");
    events.push(eventOf(payload));
    at += 16 + length;
  }
  return events;
}

function eventOf(payload: Uint8Array): TfEvent {
  const fields = fieldsOf(payload);
  const values = fieldsOf(bytesOf(fields, 5)).map(({ value }) => fieldsOf(value as Uint8Array));
  return {
    wallTime: Buffer.from(bytesOf(fields, 1)).readDoubleLE(),
    step: numberOf(fields, 2),
    fileVersion: textOf(fields, 3),
    restart: numberOf(fieldsOf(bytesOf(fields, 7)), 1) === 1,
    scalars: Object.fromEntries(
      values.map((value) => [textOf(value, 1), Buffer.from(bytesOf(value, 2)).readFloatLE()]),
    ),
  };
}

/** A field of a message: a varint or fixed number as a bigint, or bytes. */
export type Field = { id: number; value: bigint | Uint8Array };

/** The fields of a message, by the wire format alone: shares nothing with what wrote it. */
export function fieldsOf(bytes: Uint8Array): Field[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const fields: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = view.getUint8(at++);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asIntN(64, value);
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const id = tag >> 3;
    const kind = tag & 7;
    if (kind === 0) fields.push({ id, value: varint() });
    else {
      const length = kind === 1 ? 8 : kind === 5 ? 4 : Number(varint());
      if (kind !== 1 && kind !== 2 && kind !== 5) throw new Error(`wire type ${kind}`);
      if (at + length > bytes.length) throw new Error("a field that does not end");
      fields.push({ id, value: bytes.subarray(at, at + length) });
      at += length;
    }
  }
  return fields;
}

const first = (fields: readonly Field[], id: number) => fields.find((field) => field.id === id)?.value;

/** Bytes of a field; empty without it. */
export const bytesOf = (fields: readonly Field[], id: number) =>
  (first(fields, id) as Uint8Array | undefined) ?? new Uint8Array();
/** Text of a field. */
export const textOf = (fields: readonly Field[], id: number) => Buffer.from(bytesOf(fields, id)).toString();
/** A number of a field; 0 without it. */
export const numberOf = (fields: readonly Field[], id: number) => Number(first(fields, id) ?? 0);

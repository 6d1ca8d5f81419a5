import { afterAll } from "vitest";
import { openCheckpoint } from "../../lib/model/checkpoint.ts";
import { ModelSession, type SessionSpec } from "../../lib/model/session.ts";
import type { Head, HeadBatch } from "../../lib/model/types.ts";
import type { TestTensor } from "./checkpoint.ts";
import { affine } from "../reference/decoder.ts";

export { ints } from "./ragged.ts";

/** A session in this thread, released when the test file ends. */
export async function openSession(
  folder: string,
  head: Head,
  options: Partial<SessionSpec> = {},
): Promise<ModelSession> {
  const checkpoint = await openCheckpoint(folder);
  const spec: SessionSpec = { checkpoint, head, threads: 1, weights: "in-place", ...options };
  const session = await ModelSession.create(spec);
  afterAll(() => session.release());
  return session;
}

/** Values of every read of a batch. */
export function runAll(session: ModelSession, batch: HeadBatch): Promise<Float32Array> {
  return session.run(batch, 0, batch.ids.offsets.length - 1);
}

/** `x W^T + b` for the rows of a reference's hidden states. */
export function applyHead(hidden: Float64Array[], weight: TestTensor, bias?: TestTensor): number[] {
  return affine(hidden, weight.values, bias?.values).flatMap((row) => [...row]);
}

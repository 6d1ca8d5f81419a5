import { parentPort, workerData } from "node:worker_threads";
import { MinformError } from "../errors.ts";
import { ModelSession, type SessionSpec } from "./session.ts";
import type { HeadBatch } from "./types.ts";

/** @internal What the runner asks for: rows of a batch, or the end. */
export type Request =
  | {
      readonly kind: "run";
      readonly id: number;
      readonly batch: HeadBatch;
      readonly from: number;
      readonly to: number;
    }
  | { readonly kind: "close" };

/** @internal What comes back. */
export type Reply =
  | { readonly kind: "ready"; readonly outputs: number }
  | { readonly kind: "values"; readonly id: number; readonly values: Float32Array }
  | { readonly kind: "failed"; readonly id: number | undefined; readonly error: SentError };

/** @internal An error in a form that survives the way between threads. */
export interface SentError {
  readonly type: string;
  readonly code: string | undefined;
  readonly message: string;
  readonly stack: string | undefined;
}

function sent(error: unknown): SentError {
  const { name, message, stack } = error as Error;
  return { type: name, code: error instanceof MinformError ? error.code : undefined, message, stack };
}

const port = parentPort;

async function serve(spec: SessionSpec): Promise<void> {
  const reply = (message: Reply, transfer: ArrayBuffer[] = []) => port!.postMessage(message, transfer);
  let session: ModelSession;
  try {
    session = await ModelSession.create(spec);
  } catch (error) {
    reply({ kind: "failed", id: undefined, error: sent(error) });
    port!.close();
    return;
  }
  // One request at a time: the runtime blocks this thread anyway, and the order of replies is that of requests.
  let turn = Promise.resolve();
  port!.on("message", (request: Request) => {
    turn = turn.then(async () => {
      if (request.kind === "close") {
        await session.release();
        port!.close();
        return;
      }
      const { id, batch, from, to } = request;
      try {
        const values = await session.run(batch, from, to);
        reply({ kind: "values", id, values }, [values.buffer as ArrayBuffer]);
      } catch (error) {
        reply({ kind: "failed", id, error: sent(error) });
      }
    });
  });
  reply({ kind: "ready", outputs: session.outputs });
}

if (port !== null) void serve(workerData as SessionSpec);

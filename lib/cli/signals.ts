import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** @internal What a job is cancelled with when a signal arrives. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(signal: (typeof SIGNALS)[number], state: string) {
    super(`cancelled by ${signal}; ${state}`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

/**
 * @internal Runs work under a signal that aborts on Ctrl-C and its like. A second Ctrl-C ends the process at once.
 *
 * @param state - what the user is told about the output
 */
export async function interruptible<T>(
  work: (signal: AbortSignal) => Promise<T>,
  state = "nothing was written",
): Promise<T> {
  const controller = new AbortController();
  const handlers = SIGNALS.map(
    (signal) => [signal, () => controller.abort(new Interrupted(signal, state))] as const,
  );
  for (const [signal, handler] of handlers) process.once(signal, handler);
  try {
    return await work(controller.signal);
  } catch (error) {
    // A stream that is cancelled throws an AbortError of its own.
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    for (const [signal, handler] of handlers) process.removeListener(signal, handler);
  }
}

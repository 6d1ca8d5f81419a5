import { MinformError } from "../errors.ts";

/** Throws for the word that a call left: what the function would have thrown on the host. */
type Explain = (status: number) => void;

/**
 * @internal What a call on the device will have to say: it is known once the stream has been waited for. `explain` is
 * then called with the status that the host's kernel would have returned.
 */
export class DeviceStatus {
  readonly name: string;
  explain: Explain = () => {};

  constructor(name: string) {
    this.name = name;
  }

  raise(status: number): void {
    if (status === -1) return;
    try {
      this.explain(status);
    } catch (error) {
      if (error instanceof MinformError) error.message = `${this.name}: ${error.message}`;
      throw error;
    }
  }
}

/** @internal What a kernel says about its call: on the host its status, on the device where that will stand. */
export type Status = number | DeviceStatus;

/**
 * @internal Calls `check` with the status: now, or, for a call on the device, once its stream has been waited for. Until
 * then the suspects are held weakly: a message is no reason to keep memory.
 */
export function whenKnown<S extends object>(
  status: Status,
  suspects: Record<string, S | null | undefined>,
  check: (status: number, suspects: Record<string, S | null | undefined>) => void,
): void {
  if (typeof status === "number") {
    check(status, suspects);
    return;
  }
  const weak = Object.entries(suspects).map(([name, data]) => [name, data && new WeakRef(data)] as const);
  status.explain = (found) =>
    check(found, Object.fromEntries(weak.map(([name, data]) => [name, data?.deref()])));
}

import type { NativeJob } from "../addon.ts";
import { runJob } from "../job.ts";
import { addon } from "../load.ts";
import type { HostArray, NativeArray, NativeStream } from "./kernels.ts";
import { DeviceStatus } from "./status.ts";
import { DEVICE_TYPES, DeviceTensor, type DeviceType } from "./tensor.ts";

/** Words for the statuses of some calls. */
interface Words {
  readonly array: NativeArray;
  readonly calls: DeviceStatus[];
}

const WORDS = 64;
const BIGINT64 = 9;

// Calls whose words are unread; then they are read whether anyone asks or not.
const MOST_CALLS = 1024;

/** @internal A stream with the statuses of its calls and the device's copies of host arrays. */
export class DeviceStream {
  readonly native: NativeStream = addon().device.createStream();
  readonly #copies = new WeakMap<HostArray, NativeArray>();
  #unread: Words[] = [];

  allocate<K extends DeviceType>(type: K, dims: readonly number[]): DeviceTensor<K> {
    const length = dims.reduce((product, extent) => product * extent, 1);
    const array = addon().device.allocate(this.native, DEVICE_TYPES[type].kind, length);
    return new DeviceTensor(this, array, type, dims);
  }

  upload<K extends DeviceType>(type: K, values: HostArray, dims: readonly number[]): DeviceTensor<K> {
    return new DeviceTensor(this, addon().device.upload(this.native, values), type, dims);
  }

  /** The device's copy of a host array that says where things are (offsets, masks), made anew when it has changed. */
  copyOf(values: HostArray): NativeArray {
    const copy = addon().device.uploadKnown(this.#copies.get(values) ?? null, this.native, values);
    this.#copies.set(values, copy);
    return copy;
  }

  /** Words for a call about to be made: one, or one per tensor of a list, side by side. */
  status(name: string, count = 1): { statuses: DeviceStatus[]; words: NativeArray; word: number } {
    if (this.#unread.length > MOST_CALLS / WORDS) this.#checkNow();
    let last = this.#unread.at(-1);
    if (last === undefined || last.calls.length + count > WORDS) {
      const words = Math.max(WORDS, count);
      last = { array: this.integers(words), calls: [] };
      this.#unread.push(last);
    }
    const word = last.calls.length;
    const statuses = Array.from({ length: count }, () => new DeviceStatus(name));
    last.calls.push(...statuses);
    return { statuses, words: last.array, word };
  }

  /** 64-bit integers; their content is undefined. */
  integers(count: number): NativeArray {
    return addon().device.allocate(this.native, BIGINT64, count);
  }

  /** A word that holds back what comes after a check that failed: all ones until then. */
  guard(): NativeArray {
    const guard = this.integers(1);
    addon().device.fill(guard, 0xff);
    return guard;
  }

  /** Takes back the words of a call that was not made. */
  withdraw(statuses: readonly DeviceStatus[]): void {
    this.#unread.at(-1)!.calls.splice(-statuses.length);
  }

  /** Waits for a job, then throws for the first call made before it that met a bad value. */
  async checked(job: NativeJob): Promise<void> {
    const taken = this.#take();
    const statuses = taken.map(({ calls }) => new BigInt64Array(calls.length));
    const { device } = addon();
    const reads = taken.map(({ array }, i) =>
      runJob(undefined, () => device.download(array, 0, statuses[i]!)),
    );
    const outcomes = await Promise.allSettled([runJob(undefined, () => job), ...reads]);
    for (const { array } of taken) device.dispose(array);
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    raiseFirst(taken, statuses);
  }

  synchronize(): Promise<void> {
    return this.checked(addon().device.synchronize(this.native));
  }

  #checkNow(): void {
    const taken = this.#take();
    const { device } = addon();
    const statuses = taken.map(({ array, calls }) => {
      const words = new BigInt64Array(calls.length);
      device.read(array, 0, words);
      device.dispose(array);
      return words;
    });
    raiseFirst(taken, statuses);
  }

  #take(): Words[] {
    const taken = this.#unread.filter(({ calls }) => calls.length > 0);
    this.#unread = [];
    return taken;
  }
}

function raiseFirst(taken: readonly Words[], statuses: readonly BigInt64Array[]): void {
  for (const [i, { calls }] of taken.entries()) {
    for (const [word, call] of calls.entries()) call.raise(Number(statuses[i]![word]));
  }
}

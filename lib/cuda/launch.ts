import type { NativeArray } from "./kernels.ts";
import type { DeviceStatus } from "./status.ts";
import type { DeviceStream } from "./stream.ts";
import { DeviceTensor } from "./tensor.ts";

/**
 * @internal Calls a kernel where its arrays are. On the host that is all. On the device the call runs on the stream of
 * its first tensor; host arrays among the arguments (offsets, masks, ids: what says where things are) are replaced by
 * the device's copies, and the answer is a {@link DeviceStatus}. Float64Arrays stay: they are parameters.
 *
 * @param name - the public function, for messages about bad values that are found later
 */
export function launch<A extends unknown[], R>(
  name: string,
  kernel: (...args: A) => R,
  ...args: A
): R | DeviceStatus {
  const first = args.find((arg) => arg instanceof DeviceTensor);
  if (first === undefined) return kernel(...args);
  const { stream } = first as DeviceTensor;
  const placed = args.map((arg) => {
    if (arg instanceof DeviceTensor) return arg.array;
    return arg instanceof Int32Array || arg instanceof Uint8Array ? stream.copyOf(arg) : arg;
  });
  return onStream(stream, name, 1, (words, word) => {
    kernel(...([...placed, words, word] as unknown[] as A));
  })[0]!;
}

/** @internal Makes a call on the device with `count` words to report in. */
export function onStream(
  stream: DeviceStream,
  name: string,
  count: number,
  call: (words: NativeArray, word: number) => void,
): DeviceStatus[] {
  const { statuses, words, word } = stream.status(name, count);
  try {
    call(words, word);
  } catch (error) {
    stream.withdraw(statuses);
    throw error;
  }
  return statuses;
}

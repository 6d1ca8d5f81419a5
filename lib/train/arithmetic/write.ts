import { AtomicFile } from "../../atomic-file.ts";
import { arithmeticRollouts, type ArithmeticRolloutsOptions } from "./rollouts.ts";

/** @internal Writes {@link arithmeticRollouts} to a file, which appears whole or not at all. */
export async function writeArithmeticRollouts(
  path: string,
  options: ArithmeticRolloutsOptions,
  signal?: AbortSignal,
): Promise<void> {
  using file = new AtomicFile(path);
  let group: string | undefined;
  for (const rollout of arithmeticRollouts(options)) {
    file.write(Buffer.from(`${JSON.stringify(rollout)}\n`));
    if (rollout.group === group) continue;
    group = rollout.group;
    await new Promise((done) => setImmediate(done));
    signal?.throwIfAborted();
  }
  file.prepare();
  file.commit();
}

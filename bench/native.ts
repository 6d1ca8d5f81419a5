import { type ChildProcessByStdio, execFile, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Builds bench/native with the kernels of an ISA level, and gives the path of one of its programs. */
export async function buildNative(root: string, isa: string, program: string): Promise<string> {
  const build = join(root, "build", "bench-native");
  await run("cmake", ["-S", join(root, "bench", "native"), "-B", build, `-DMINFORM_ISA=${isa}`]);
  await run("cmake", ["--build", build, "--config", "Release", "--target", program]);
  return join(build, program);
}

/** bench/native/products.cc as a second process, which ends with this one. */
export class Products {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;

  private constructor(process: ChildProcessByStdio<Writable, Readable, null>) {
    this.#process = process;
    this.#lines = createInterface({ input: process.stdout })[Symbol.asyncIterator]();
  }

  static async start(root: string, isa: string, threads: number): Promise<Products> {
    const program = await buildNative(root, isa, "products");
    const child = spawn(program, [String(threads)], { stdio: ["pipe", "pipe", "inherit"] });
    child.unref();
    const products = new Products(child);
    products.#hold(false);
    return products;
  }

  /** The same product some times; `form` as in products.cc. */
  async multiply(times: number, form: string, rows: number, outputs: number, inputs: number): Promise<void> {
    this.#hold(true);
    this.#process.stdin.write(`${times} ${form} ${rows} ${outputs} ${inputs}\n`);
    const { done } = await this.#lines.next();
    this.#hold(false);
    if (done) throw new Error("the products process has ended");
  }

  // Only a request under way keeps this process alive.
  #hold(on: boolean): void {
    for (const pipe of [this.#process.stdin, this.#process.stdout] as Socket[])
      on ? pipe.ref() : pipe.unref();
  }
}

// Runs the built command in a process of its own.
import { type ChildProcess, spawn } from "node:child_process";

const MAIN = new URL("../../dist/cli/main.js", import.meta.url).pathname;

interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface Surroundings {
  cwd?: string;
  /** What comes on standard input. */
  input?: string;
  /** Options of Node itself. */
  node?: string[];
  /** Called while it runs. */
  meanwhile?: (child: ChildProcess) => void;
}

/** Runs `minform` with arguments. Starting takes a while: what needs no process of its own uses runCommand. */
export function minform(args: readonly string[], surroundings: Surroundings = {}): Promise<Finished> {
  const { cwd, input, node = [], meanwhile } = surroundings;
  const child = spawn(process.execPath, [...node, MAIN, ...args], { ...(cwd !== undefined && { cwd }) });
  const finished: Finished = { code: null, stdout: "", stderr: "" };
  child.stdout.on("data", (data) => {
    finished.stdout += data;
  });
  child.stderr.on("data", (data) => {
    finished.stderr += data;
  });
  if (input !== undefined) child.stdin.end(input);
  meanwhile?.(child);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ ...finished, code }));
  });
}

// Runs the command in this process.
import { vi } from "vitest";
import { runCommand } from "../../lib/cli/command.ts";

/** Runs `minform` with arguments; what it writes is caught until mocks are restored. */
export async function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const got = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    vi.spyOn(process[stream], "write").mockImplementation((text) => {
      got[stream] += text;
      return true;
    });
  }
  return { code: await runCommand(args), ...got };
}

// Small runs of the embedded task, and what tests compare of them.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ChildProcess } from "node:child_process";
import { expect } from "vitest";
import { stringify } from "yaml";
import { writeFileSync } from "node:fs";
import { minform } from "../cli/process.ts";

/** Rows of a run's metrics without their times. */
export function metricsOf(folder: string): { step: number; metrics: Record<string, number> }[] {
  return readFileSync(join(folder, "metrics.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const { step, metrics } = JSON.parse(line) as { step: number; metrics: Record<string, number> };
      return { step, metrics };
    });
}

/** The bytes of a trained model. */
export function modelOf(folder: string): Buffer {
  return readFileSync(join(folder, "model", "model.safetensors"));
}

/** Expects the metrics and the bits of the model of another run. */
export function expectSameRun(folder: string, other: string): void {
  expect(metricsOf(folder)).toEqual(metricsOf(other));
  expect(modelOf(folder).equals(modelOf(other))).toBe(true);
}

/** Expects that a command that was killed goes on to what an unbroken run gave. */
export async function expectResumed(
  command: string,
  config: object,
  folder: string,
  unbroken: string,
): Promise<void> {
  const { code, stderr } = await runPhase(command, config, folder, { resume: true });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expectSameRun(folder, unbroken);
}

/** Runs a command on a config, and kills it (SIGKILL) once it has logged so many steps; 0: it runs to its end. */
export async function runPhase(
  command: string,
  config: object,
  folder: string,
  { killAfter = 0, resume = false }: { killAfter?: number; resume?: boolean } = {},
) {
  const file = `${folder}.yaml`;
  writeFileSync(file, stringify(config));
  const args = [command, file, "--out-dir", folder, "--quiet", ...(resume ? ["--resume"] : [])];
  return minform(args, killAfter > 0 ? { meanwhile: (child) => killAtStep(child, folder, killAfter) } : {});
}

function killAtStep(child: ChildProcess, folder: string, steps: number): void {
  const metrics = join(folder, "metrics.jsonl");
  const timer = setInterval(() => {
    if (!existsSync(metrics)) return;
    if (readFileSync(metrics, "utf8").split("\n").length <= steps) return;
    clearInterval(timer);
    child.kill("SIGKILL");
  }, 1);
  child.on("exit", () => clearInterval(timer));
}

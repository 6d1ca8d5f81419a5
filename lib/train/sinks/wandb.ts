import { execFile, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { InputError, ModelError } from "../../errors.ts";
import type { MetricSink } from "./sink.ts";
import { itemsOf, WandbFile } from "./wandb-file.ts";

/** @internal What {@link WandbSink} needs to know. */
export interface WandbSettings {
  readonly config: object | undefined;
  /** Last step of the run's earlier parts. */
  readonly resumedAfter: number | undefined;
  readonly name: string;
  readonly project: string;
  readonly online: boolean;
}

const COMMAND = "wandb";

/**
 * @internal A Weights & Biases run in an offline folder, which `wandb sync FOLDER` uploads; `online` has that command run
 * when the sink is closed. A run that goes on is another folder with the same run id: steps that the server has it does
 * not take twice.
 */
export class WandbSink implements MetricSink {
  readonly #folder: string;
  readonly #file: WandbFile;
  readonly #online: boolean;
  readonly #started = Date.now();
  readonly #last: Record<string, number> = {};

  /**
   * @throws {@link ModelError} `ERR_DEPENDENCY` when it is to go online and there is no `wandb` command
   * @throws {@link InputError} `ERR_INPUT` when nothing can be written there
   */
  constructor(folder: string, { name, project, online, config, resumedAfter }: WandbSettings) {
    if (online) assertCommand();
    this.#online = online;
    const id = runId(folder);
    this.#folder = freshFolder(folder, id, this.#started);
    this.#file = new WandbFile(join(this.#folder, `run-${id}.wandb`));
    this.#file.write({ header: { versionInfo: { producer: "minform", minConsumer: "0.40.0" } } });
    this.#file.write({
      run: {
        runId: id,
        project,
        displayName: name,
        config: { update: itemsOf({ ...config }) },
        startTime: { seconds: Math.floor(this.#started / 1000) },
        resumed: resumedAfter !== undefined,
      },
    });
  }

  log(step: number, metrics: Readonly<Record<string, number>>): void {
    const now = Date.now();
    const row = {
      ...metrics,
      _step: step,
      _timestamp: now / 1000,
      _runtime: (now - this.#started) / 1000,
    };
    Object.assign(this.#last, row);
    this.#file.write({ history: { item: itemsOf(row), step: { num: step } } });
  }

  async close(): Promise<void> {
    this.#file.write({ summary: { update: itemsOf(this.#last) } });
    const runtime = Math.round((Date.now() - this.#started) / 1000);
    this.#file.write({ exit: { exitCode: 0, runtime } });
    this.#file.close();
    if (!this.#online) return;
    try {
      await promisify(execFile)(COMMAND, ["sync", this.#folder]);
    } catch (cause) {
      const why = (cause as { stderr?: string }).stderr?.trim() || (cause as Error).message;
      throw new ModelError(
        "ERR_DEPENDENCY",
        `wandb sync failed, the run is complete in ${this.#folder} and can be uploaded later: ${why}`,
        { cause },
      );
    }
  }
}

function assertCommand(): void {
  const { error } = spawnSync(COMMAND, ["--version"], { stdio: "ignore" });
  if (error === undefined) return;
  throw new ModelError(
    "ERR_DEPENDENCY",
    `wandb: "online" needs the wandb command (pip install wandb; wandb login); "offline" does not`,
    { cause: error },
  );
}

const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

// The same for all parts of a run.
function runId(folder: string): string {
  const path = join(folder, "run-id");
  try {
    mkdirSync(folder, { recursive: true });
    if (!existsSync(path))
      writeFileSync(path, Array.from({ length: 8 }, () => LETTERS[randomInt(LETTERS.length)]).join(""));
    return readFileSync(path, "utf8").trim();
  } catch (cause) {
    throw new InputError("ERR_INPUT", `${path}: cannot be written: ${(cause as Error).message}`, { cause });
  }
}

// The command expects offline-run-YYYYMMDD_HHMMSS-ID; parts of a run may begin in the same second.
function freshFolder(folder: string, id: string, time: number): string {
  const stamp = new Date(time).toISOString().slice(0, 19).replace(/[-:]/g, "").replace("T", "_");
  const path = join(folder, `offline-run-${stamp}-${id}`);
  return existsSync(path) ? freshFolder(folder, id, time + 1000) : path;
}

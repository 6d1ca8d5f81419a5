import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { parseTrainConfig, readTrainConfig, type TrainConfigInput } from "../../../lib/train/config/index.ts";
import { REWARD_MODES } from "../../../lib/train/config/reward.ts";
import { describeKeys } from "../../../lib/train/config/keys.ts";
import { trainSchema } from "../../../lib/train/config/schema.ts";
import { applySettings } from "../../../lib/train/config/set.ts";
import { editDistance } from "../../../lib/train/config/suggest.ts";
import { trainReference } from "../../../lib/train/config/train-reference.ts";
import { temporaryFolder } from "../../support/checkpoint.ts";

const root = await temporaryFolder();
const LEAST: TrainConfigInput = { model: { path: "m" }, data: { train: "t.jsonl" } };

function faultOf(config: object): string {
  try {
    parseTrainConfig({ ...LEAST, ...config } as TrainConfigInput);
  } catch (error) {
    return (error as Error).message;
  }
  return "no error";
}

describe("a config", () => {
  it("has defaults for everything but the policy and its prompts", () => {
    const { reward, algorithm, kl, rollout } = parseTrainConfig(LEAST);
    expect(reward).toMatchObject({ mode: "prm+vr", credit: "min-form", creditTemperature: 0.1 });
    expect(algorithm).toMatchObject({ estimator: "rloo", baseline: "token", normalize: "whiten" });
    expect(kl).toMatchObject({ place: "loss", coefficient: 0.001, estimator: "k3" });
    expect(rollout).toMatchObject({ prompts: 64, n: 8 });
  });

  it("stays what it is when it is checked again", () => {
    const once = parseTrainConfig(LEAST);
    expect(parseTrainConfig(once)).toEqual(once);
  });

  it.each([
    [{ rollout: { promts: 3 } }, "rollout.promts: no such key; did you mean rollout.prompts?"],
    [{ actor: { learning_rate: 1 } }, "actor.learning_rate: no such key; did you mean actor.learningRate?"],
    [{ actor: { estimator: "grpo" } }, "actor.estimator: no such key; did you mean algorithm.estimator?"],
    [{ rewards: {} }, "rewards: no such key; did you mean reward?"],
    [{ actor: { zzzzzzzz: 1 } }, "actor.zzzzzzzz: no such key"],
  ])("names a key that is not known and the one that was meant: %j", (config, message) => {
    expect(faultOf(config)).toBe(`config: ${message}`);
  });

  it.each([
    [{ rollout: { n: 0 } }, /rollout\.n: .*>=1/],
    [{ reward: { mode: "prmvr" } }, /reward\.mode: .*"prm\+vr"/],
    [{ reward: { mode: "prmvr" } }, /got "prmvr"; did you mean "prm\+vr"\?$/],
    [
      { reward: { mode: "dense" } },
      /reward\.mode: expected one of "prm", "vr", "prm\+vr", "function", got "dense"$/,
    ],
    [{ algorithm: { estimator: 3 } }, /algorithm\.estimator: .*, got 3$/],
    [{ model: "x" }, /model: expected keys and values such as model\.path, got text$/],
    [{ model: undefined }, /model: expected keys and values such as model\.path, got nothing$/],
    [
      { model: { path: "m", training: "lora" } },
      /model\.training: expected "all"; or expected keys and values, got text$/,
    ],
    [
      { model: { path: "m", training: { lora: {} } } },
      /model\.training\.lora\.rank: expected number, got nothing$/,
    ],
    [
      { model: { path: "m", training: { lora: { rank: 1, r: 2 } } } },
      /model\.training\.lora\.r: no such key$/,
    ],
    [
      { data: { train: "t", template: "Q:" } },
      /data\.template: expected a text that holds \{prompt\} once, got "Q:"$/,
    ],
    [{ data: { train: "t", template: "{prompt}{prompt}" } }, /data\.template: expected a text/],
    [{ kl: { coefficient: "much" } }, /kl\.coefficient: .*number/],
    [{ actor: { miniBatch: 65 } }, /actor\.miniBatch: expected at most rollout\.prompts = 64, got 65/],
    [{ correction: { min: 3 } }, /correction\.min: expected at most correction\.max = 2, got 3/],
    [{ rollout: { n: 1 } }, /rollout\.n: expected at least 2/],
    [{ reward: { mode: "vr" }, online: { enabled: true } }, /online\.enabled/],
    [{ kl: { controller: "adaptive", coefficient: 0 } }, /kl\.coefficient/],
    [
      { kl: { controller: "adaptive", horizon: 100 } },
      /kl\.horizon: expected at least a fifth of the 512 responses of a step, got 100/,
    ],
  ])("names a value that is wrong: %j", (config, message) => {
    expect(faultOf(config)).toMatch(message);
  });

  it("lists all faults at once", () => {
    expect(faultOf({ seed: -1, rollout: { n: 0, x: 1 } })).toMatch(/3 faults:\n.*seed.*\n.*\n.*/);
  });
});

describe("a config file", () => {
  it("has paths relative to itself, and settings over it", async () => {
    const file = join(root, "run.yaml");
    writeFileSync(
      file,
      "model: { path: ../base }\ndata: { train: p.jsonl, eval: 'arithmetic:held-out' }\nreward: { prm: prm }\n",
    );
    const config = await readTrainConfig(file, {
      set: ["rollout.n=16", "rollout.stop=['\\n', b]", "name=x"],
    });
    expect(config.model.path).toBe(resolve(root, "../base"));
    expect(config.data).toMatchObject({ train: join(root, "p.jsonl"), eval: "arithmetic:held-out" });
    expect(config.reward.prm).toBe(join(root, "prm"));
    expect(config.rollout).toMatchObject({ n: 16, stop: ["\\n", "b"] });
    expect(config.name).toBe("x");
  });

  it("says what is wrong with the file", async () => {
    await expect(readTrainConfig(join(root, "none.yaml"))).rejects.toThrow(/none\.yaml: ENOENT/);
    const file = join(root, "list.yaml");
    writeFileSync(file, "- a\n");
    await expect(readTrainConfig(file)).rejects.toThrow(`${file}: expected keys and values`);
    writeFileSync(file, "a: [1\n");
    await expect(readTrainConfig(file)).rejects.toThrow(file);
  });
});

describe("examples/", () => {
  const folder = new URL("../../../examples/", import.meta.url).pathname;
  const files = readdirSync(folder).filter((name) => /^(train|digits)-.*\.yaml$/.test(name));

  it.each(files)("%s is a config", async (name) => {
    const { model, data } = await readTrainConfig(join(folder, name));
    expect([isAbsolute(model.path), data.train.length > 0]).toEqual([true, true]);
  });

  it("cover every reward mode", async () => {
    const modes = await Promise.all(
      files.map(async (name) => (await readTrainConfig(join(folder, name))).reward.mode),
    );
    expect(new Set(modes)).toEqual(new Set(REWARD_MODES));
  });
});

describe("--set", () => {
  it("makes sections that are not there, and leaves the file's value alone", () => {
    const before = { a: 1 };
    expect(applySettings(before, ["b.c.d=2"], "f")).toEqual({ a: 1, b: { c: { d: 2 } } });
    expect(before).toEqual({ a: 1 });
  });

  it.each([
    ["a", "expected key=value"],
    ["a.b=1", "expected a section at a"],
    ["c=[", "--set c=["],
  ])("refuses %s", (setting, message) => {
    expect(() => applySettings({ a: 1 }, [setting], "f")).toThrow(message);
  });
});

it("counts letters to put in, take out or replace", () => {
  expect([editDistance("kitten", "sitting"), editDistance("", "ab"), editDistance("ab", "ab")]).toEqual([
    3, 2, 0,
  ]);
});

describe("the reference", () => {
  it("describes every key", () => {
    const silent = describeKeys(trainSchema).filter(({ description }) => description === "");
    expect(silent).toEqual([]);
  });

  it("is the one in docs/", () => {
    const written = readFileSync(new URL("../../../docs/guides/train-config.md", import.meta.url), "utf8");
    expect(written).toBe(trainReference());
  });
});

import { describe, expect, test } from "vitest";
import { parseConfig } from "../../lib/model/config.ts";
import { ropeFrequencies } from "../../lib/model/frequencies.ts";
import { expectClose } from "../support/compare.ts";

const BASE = {
  model_type: "qwen2",
  architectures: ["Qwen2ForCausalLM"],
  vocab_size: 100,
  hidden_size: 64,
  intermediate_size: 96,
  num_hidden_layers: 3,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: 4096,
};

test("the spelling before transformers 5 and the one since mean the same", () => {
  const scaling = { factor: 4, original_max_position_embeddings: 1024 };
  const before = parseConfig({ ...BASE, rope_theta: 5e5, rope_scaling: { type: "yarn", ...scaling } });
  const since = parseConfig({
    ...BASE,
    dtype: "bfloat16",
    rope_parameters: { rope_type: "yarn", rope_theta: 5e5, ...scaling },
  });
  expect(since).toEqual(before);
  expect(since.rope.theta).toBe(5e5);
});

test("both spellings in one file: the older one speaks", () => {
  const both = { rope_parameters: { rope_type: "default" }, rope_scaling: { type: "linear", factor: 2 } };
  expect(parseConfig({ ...BASE, ...both }).rope.scaling.type).toBe("linear");
  expect(parseConfig({ ...BASE, ...both, rope_scaling: null }).rope.scaling.type).toBe("default");
});

test("a rotation by kind of layer is read where all kinds have the same", () => {
  const one = { rope_type: "linear", rope_theta: 5e5, factor: 2 };
  const nested = { full_attention: one, sliding_attention: { ...one } };
  expect(parseConfig({ ...BASE, rope_parameters: nested }).rope).toEqual(
    parseConfig({ ...BASE, rope_parameters: one }).rope,
  );
});

test("what a file leaves out", () => {
  const config = parseConfig({ ...BASE, num_key_value_heads: undefined });
  expect(config).toMatchObject({ kvHeads: 4, headDim: 16, rmsEpsilon: 1e-6, qkvBias: true, qkNorm: false });
  expect(config.rope).toMatchObject({ theta: 10000, scaling: { type: "default" } });
  expect(parseConfig({ ...BASE, model_type: "qwen3" })).toMatchObject({
    headDim: 128,
    qkNorm: true,
    qkvBias: false,
  });
  expect(parseConfig({ ...BASE, model_type: undefined }).family).toBe("qwen2");
});

describe("windows", () => {
  const windows = (fields: object) => parseConfig({ ...BASE, ...fields }).windows;

  test("Qwen2 has none unless it says so, then from a layer on", () => {
    expect(windows({ sliding_window: 8 })).toEqual([null, null, null]);
    const on = { use_sliding_window: true, sliding_window: 8 };
    expect(windows({ ...on, max_window_layers: 1 })).toEqual([null, 8, 8]);
    expect(windows({ ...on, sliding_window: null })).toEqual([null, null, null]);
    const types = ["sliding_attention", "full_attention", "full_attention"];
    expect(windows({ ...on, layer_types: types })).toEqual([8, null, null]);
  });

  test("Mistral has one in every layer unless it is null; Llama has none", () => {
    expect(windows({ model_type: "mistral" })).toEqual([4096, 4096, 4096]);
    expect(windows({ model_type: "mistral", sliding_window: null })).toEqual([null, null, null]);
    expect(windows({ model_type: "llama", sliding_window: 8 })).toEqual([null, null, null]);
  });
});

test("the context length grows with the scalings that stretch it", () => {
  const reach = (rope_scaling: object) => parseConfig({ ...BASE, rope_scaling }).maxLength;
  expect(reach({ type: "linear", factor: 2 })).toBe(8192);
  expect(reach({ type: "dynamic", factor: 2 })).toBe(8192);
  expect(reach({ type: "yarn", factor: 4, original_max_position_embeddings: 4096 })).toBe(16384);
  expect(reach({ type: "yarn", factor: 4, original_max_position_embeddings: 1024 })).toBe(4096);
});

// Frequencies of the reference implementation (transformers 5.18.0, float32) for a head of 16 and theta 10000.
const GOLDEN: Record<string, { scaling: object; length: number; magnitude: number; frequencies: number[] }> =
  {
    default: {
      scaling: { type: "default" },
      length: 64,
      magnitude: 1.0,
      frequencies: [
        1.0, 0.3162277638912201, 0.10000000149011612, 0.03162277862429619, 0.009999999776482582,
        0.003162277862429619, 0.0010000000474974513, 0.0003162277862429619,
      ],
    },
    linear: {
      scaling: { type: "linear", factor: 4 },
      length: 64,
      magnitude: 1.0,
      frequencies: [
        0.25, 0.07905694097280502, 0.02500000037252903, 0.007905694656074047, 0.0024999999441206455,
        0.0007905694656074047, 0.0002500000118743628, 7.905694656074047e-5,
      ],
    },
    "dynamic, short": {
      scaling: { type: "dynamic", factor: 4 },
      length: 100,
      magnitude: 1.0,
      frequencies: [
        1.0, 0.3162277638912201, 0.10000000149011612, 0.03162277862429619, 0.009999999776482582,
        0.003162277862429619, 0.0010000000474974513, 0.0003162277862429619,
      ],
    },
    "dynamic, long": {
      scaling: { type: "dynamic", factor: 4 },
      length: 700,
      magnitude: 1.0,
      frequencies: [
        1.0, 0.23521971702575684, 0.05532832443714142, 0.013014312833547592, 0.0030612230766564608,
        0.0007200600812211633, 0.00016937234613578767, 3.983972055721097e-5,
      ],
    },
    llama3: {
      scaling: {
        rope_type: "llama3",
        factor: 8,
        low_freq_factor: 1,
        high_freq_factor: 4,
        original_max_position_embeddings: 64,
      },
      length: 64,
      magnitude: 1.0,
      frequencies: [
        1.0, 0.24438458681106567, 0.013042256236076355, 0.0039528473280370235, 0.0012499999720603228,
        0.00039528473280370235, 0.0001250000059371814, 3.9528473280370235e-5,
      ],
    },
    yarn: {
      scaling: { rope_type: "yarn", factor: 4, original_max_position_embeddings: 64 },
      length: 64,
      magnitude: 1.138629436111989,
      frequencies: [
        1.0, 0.23717081546783447, 0.04999999701976776, 0.007905694656074047, 0.0024999999441206455,
        0.0007905694656074047, 0.0002500000118743628, 7.905694656074047e-5,
      ],
    },
    "yarn, all settings": {
      scaling: {
        rope_type: "yarn",
        factor: 8,
        original_max_position_embeddings: 64,
        beta_fast: 16,
        beta_slow: 2,
        mscale: 1,
        mscale_all_dim: 0.7,
        truncate: false,
      },
      length: 64,
      magnitude: 1.0544565075669314,
      frequencies: [
        1.0, 0.12053398787975311, 0.012500000186264515, 0.0039528473280370235, 0.0012499999720603228,
        0.00039528473280370235, 0.0001250000059371814, 3.9528473280370235e-5,
      ],
    },
    "longrope, short": {
      scaling: {
        rope_type: "longrope",
        short_factor: [1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7],
        long_factor: [2, 3, 4, 5, 6, 7, 8, 9],
        original_max_position_embeddings: 64,
      },
      length: 60,
      magnitude: 1.1547005383792517,
      frequencies: [
        1.0, 0.2874797582626343, 0.0833333358168602, 0.024325214326381683, 0.0071428571827709675,
        0.0021081853192299604, 0.0006249999860301614, 0.0001860163320088759,
      ],
    },
    "longrope, long": {
      scaling: {
        rope_type: "longrope",
        short_factor: [1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7],
        long_factor: [2, 3, 4, 5, 6, 7, 8, 9],
        original_max_position_embeddings: 64,
      },
      length: 65,
      magnitude: 1.1547005383792517,
      frequencies: [
        0.5, 0.10540924966335297, 0.02500000037252903, 0.006324555724859238, 0.0016666667070239782,
        0.00045175396371632814, 0.0001250000059371814, 3.513641786412336e-5,
      ],
    },
  };

describe("rotary frequencies agree with the reference implementation", () => {
  for (const [name, { scaling, length, magnitude, frequencies }] of Object.entries(GOLDEN)) {
    test(name, () => {
      const sizes = { hidden_size: 64, max_position_embeddings: 256 };
      const { rope } = parseConfig({ ...BASE, ...sizes, model_type: "llama", rope_scaling: scaling });
      const found = ropeFrequencies(rope, length);
      expectClose(
        found.frequencies.map((f, i) => f / frequencies[i]!),
        frequencies.map(() => 1),
        3e-7,
      );
      expectClose([found.magnitude], [magnitude], 1e-12);
    });
  }
});

describe("what is refused, by field", () => {
  const cases: Record<string, [config: unknown, message: RegExp]> = {
    "another architecture": [
      { ...BASE, model_type: "gemma3", architectures: ["Gemma3ForCausalLM"] },
      /model_type: expected one of qwen2, qwen3, llama, mistral, got "gemma3"/,
    ],
    "no architecture": [{ hidden_size: 3 }, /model_type: expected a name, got none/],
    "not an object": [[1], /expected an object/],
    "a missing size": [{ ...BASE, hidden_size: undefined }, /hidden_size/],
    "a size that is text": [{ ...BASE, num_hidden_layers: "3" }, /num_hidden_layers/],
    "a size of zero": [{ ...BASE, vocab_size: 0 }, /vocab_size/],
    "heads that do not divide": [
      { ...BASE, num_key_value_heads: 3 },
      /num_key_value_heads: expected a divisor/,
    ],
    "another activation": [{ ...BASE, hidden_act: "gelu" }, /hidden_act: expected "silu", got "gelu"/],
    "quantised weights": [{ ...BASE, quantization_config: { bits: 4 } }, /quantization_config/],
    "an odd head": [{ ...BASE, head_dim: 7 }, /head_dim: expected an even number/],
    "another scaling": [
      { ...BASE, rope_scaling: { type: "ntk-by-parts", factor: 2 } },
      /rope_scaling\.rope_type: expected default, linear, .* got "ntk-by-parts"/,
    ],
    "a scaling without its factor": [{ ...BASE, rope_scaling: { type: "linear" } }, /rope_scaling\.factor/],
    "rotations that differ by kind of layer": [
      { ...BASE, rope_parameters: { full_attention: { factor: 2 }, sliding_attention: {} } },
      /rope_parameters: expected one rotation for all layers, got several: full_attention, sliding_attention/,
    ],
    "a scaling that is no object": [{ ...BASE, rope_scaling: "linear" }, /rope_scaling: expected an object/],
    "a base that is text": [{ ...BASE, rope_theta: "1e6" }, /rope_theta/],
    "more layers than any model": [{ ...BASE, num_hidden_layers: 1e9 }, /num_hidden_layers/],
    "a partial rotation": [
      { ...BASE, partial_rotary_factor: 0.5 },
      /partial_rotary_factor: expected 1, got 0\.5/,
    ],
    "divisors for another head": [
      { ...BASE, rope_scaling: { type: "longrope", short_factor: [1], long_factor: [1] } },
      /short_factor: expected 8 numbers, got 1/,
    ],
    "layer types of another depth": [
      { ...BASE, use_sliding_window: true, layer_types: ["full_attention"] },
      /layer_types: expected 3 entries, got 1/,
    ],
  };
  for (const [name, [config, message]] of Object.entries(cases)) {
    test(name, () => {
      expect(() => parseConfig(config)).toThrow(message);
      expect(() => parseConfig(config)).toThrow(expect.objectContaining({ code: "ERR_INPUT" }));
    });
  }
});

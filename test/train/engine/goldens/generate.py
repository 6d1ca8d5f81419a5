"""Writes torch.json: log-probs, entropies, head outputs and gradients of small decoders in transformers, in float64.

Weights follow from a formula (see `fill`), which the test evaluates too. Run: python3 generate.py
"""
import json
import math
import pathlib

import torch
import transformers

torch.set_num_threads(1)
SIZES = {
    "vocab_size": 13,
    "hidden_size": 16,
    "intermediate_size": 28,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-6,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500.0,
    "factor": 4.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
YARN = {"rope_type": "yarn", "rope_theta": 100.0, "factor": 2.0, "original_max_position_embeddings": 32}
CASES = {
    "Qwen2, tied": {"model_type": "qwen2", "tie_word_embeddings": True, "rope_parameters": {"rope_type": "default", "rope_theta": 100.0}},
    "Qwen3, windows": {
        "model_type": "qwen3",
        "head_dim": 10,
        "tie_word_embeddings": False,
        "use_sliding_window": True,
        "sliding_window": 5,
        "layer_types": ["sliding_attention", "full_attention"],
        "rope_parameters": {"rope_type": "default", "rope_theta": 100.0},
    },
    "Llama, biases, llama3": {
        "model_type": "llama",
        "attention_bias": True,
        "mlp_bias": True,
        "tie_word_embeddings": False,
        "rope_parameters": LLAMA3,
    },
    "Mistral, window, yarn": {
        "model_type": "mistral",
        "sliding_window": 6,
        "tie_word_embeddings": False,
        "rope_parameters": YARN,
    },
}
LENGTHS = [9, 1, 20, 4]
CLASSES, WIDTH, TEMPERATURE = 3, 7, 0.7
KEPT = 40


def fill(shape, index):
    """x <- 1664525 x + 1013904223 mod 2^32 from x = index + 1, as a signed number over 2^31."""
    count, x, values = math.prod(shape), index + 1, []
    for _ in range(count):
        x = (x * 1664525 + 1013904223) % 2**32
        values.append((x - 2**32 if x >= 2**31 else x) / 2**31)
    return torch.tensor(values, dtype=torch.float64).float().double().reshape(shape)


def build(config):
    full = {**SIZES, **config}
    kind = {"qwen2": "Qwen2", "qwen3": "Qwen3", "llama": "Llama", "mistral": "Mistral"}[config["model_type"]]
    settings = getattr(transformers, kind + "Config")(**{k: v for k, v in full.items() if k != "model_type"})
    settings._attn_implementation = "eager"
    model = getattr(transformers, kind + "ForCausalLM")(settings).double().eval()
    hidden = SIZES["hidden_size"]
    heads = {
        "score.0": torch.nn.Linear(hidden, WIDTH).double(),
        "score.2": torch.nn.Linear(WIDTH, CLASSES).double(),
        "v_head.summary": torch.nn.Linear(hidden, 1).double(),
    }
    parameters = dict(model.named_parameters())
    for name, head in heads.items():
        parameters.update({f"{name}.{part}": value for part, value in head.named_parameters()})
    for index, name in enumerate(sorted(parameters)):
        value = parameters[name]
        scale = 1 if value.dim() == 1 else 1.7 / math.sqrt(value.shape[1])
        values = fill(value.shape, index) * (0.3 if value.dim() == 1 else scale)
        value.data = (1 + values if "norm" in name else values).float().double()
    return full, model, heads, parameters


def run(config):
    full, model, heads, parameters = build(config)
    outputs = {"logProbs": [], "entropy": [], "scores": [], "values": []}
    loss, token = 0.0, 0
    for row, length in enumerate(LENGTHS):
        ids = torch.tensor([[(5 * i * i + 3 * i + row) % SIZES["vocab_size"] for i in range(length)]])
        hidden = model.model(input_ids=ids).last_hidden_state[0]
        logp = torch.log_softmax(model.lm_head(hidden).double() / TEMPERATURE, dim=-1)
        for i in range(length):
            target = (7 * token + 2) % SIZES["vocab_size"]
            entropy = -(logp[i].exp() * logp[i]).sum()
            score = heads["score.2"](torch.relu(heads["score.0"](hidden[i])))
            value = heads["v_head.summary"](hidden[i])[0]
            outputs["logProbs"].append(logp[i, target].item())
            outputs["entropy"].append(entropy.item())
            outputs["scores"].extend(score.tolist())
            outputs["values"].append(value.item())
            loss = loss + math.sin(token + 1) * logp[i, target] + 0.1 * math.cos(token) * entropy
            loss = loss + sum(math.sin(3 * token + c) * score[c] for c in range(CLASSES))
            loss = loss + math.cos(2 * token) * value
            token += 1
    loss.backward()
    gradients = {}
    for name, value in parameters.items():
        flat = value.grad.flatten()
        step = max(1, len(flat) // KEPT)
        gradients[name] = {"norm": flat.norm().item(), "step": step, "values": flat[::step].tolist()}
    return {"config": full, **outputs, "gradients": gradients}


def rounded(value):
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    return [rounded(inner) for inner in value] if isinstance(value, list) else value


result = {
    "generator": f"torch {torch.__version__}, transformers {transformers.__version__}",
    "lengths": LENGTHS,
    "classes": CLASSES,
    "width": WIDTH,
    "temperature": TEMPERATURE,
    "cases": {name: run(config) for name, config in CASES.items()},
}
path = pathlib.Path(__file__).with_name("torch.json")
path.write_text(json.dumps(rounded(result), separators=(",", ":")) + "\n")

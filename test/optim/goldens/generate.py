"""Writes torch.json: torch.optim.AdamW and torch.nn.utils.clip_grad_norm_ on small inputs, single-threaded CPU.

Run: python3 test/optim/goldens/generate.py
"""
import json
import pathlib

import torch

torch.set_num_threads(1)
STEPS = 4
SIZE = 19
SETTINGS = [
    {},
    {"weightDecay": 0.0},
    {"beta1": 0.0, "beta2": 0.95, "epsilon": 1e-6, "weightDecay": 0.1},
    {"learningRate": 0.5, "epsilon": 1e-3},
]


def adamw(dtype, settings, seed):
    generator = torch.Generator().manual_seed(seed)
    draw = lambda: torch.randn(SIZE, generator=generator, dtype=torch.float64).to(dtype)
    parameter = torch.nn.Parameter(draw())
    rate = settings.get("learningRate", 1e-3)
    optimizer = torch.optim.AdamW(
        [parameter],
        lr=rate,
        betas=(settings.get("beta1", 0.9), settings.get("beta2", 0.999)),
        eps=settings.get("epsilon", 1e-8),
        weight_decay=settings.get("weightDecay", 0.01),
        foreach=False,
        fused=False,
    )
    record = {"options": {"learningRate": rate, **settings}, "initial": parameter.tolist(), "steps": []}
    for step in range(STEPS):
        gradient = draw() * 10.0 ** (3 * (step % 3) - 3)
        gradient[0] = 0
        parameter.grad = gradient
        optimizer.step()
        state = optimizer.state[parameter]
        record["steps"].append(
            {
                "grads": gradient.tolist(),
                "params": parameter.tolist(),
                "firstMoments": state["exp_avg"].tolist(),
                "secondMoments": state["exp_avg_sq"].tolist(),
            }
        )
    return record


def clip(dtype, max_norm, seed):
    generator = torch.Generator().manual_seed(seed)
    parameters = [torch.nn.Parameter(torch.zeros(n, dtype=dtype)) for n in (5, 1, 8)]
    for parameter in parameters:
        parameter.grad = torch.randn(parameter.shape, generator=generator, dtype=torch.float64).to(dtype)
    before = [parameter.grad.tolist() for parameter in parameters]
    norm = torch.nn.utils.clip_grad_norm_(parameters, max_norm, foreach=False)
    after = [parameter.grad.tolist() for parameter in parameters]
    return {"maxNorm": max_norm, "grads": before, "norm": norm.item(), "clipped": after}


dtypes = {"float32": torch.float32, "float64": torch.float64}
result = {
    "generator": f"torch {torch.__version__}",
    "adamW": {name: [adamw(dtype, s, 7 + i) for i, s in enumerate(SETTINGS)] for name, dtype in dtypes.items()},
    "clip": {name: [clip(dtype, m, 3) for m in (0.5, 2.0, 100.0)] for name, dtype in dtypes.items()},
}
path = pathlib.Path(__file__).with_name("torch.json")
path.write_text(json.dumps(result, indent=None, separators=(",", ":")) + "\n")

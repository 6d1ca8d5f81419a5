"""Times what the kernels do as PyTorch does it, eager and compiled.

Prints a line per measurement, under the names of bench.cu: name <tab> eager ms <tab> compiled ms. "failed" stands where
PyTorch could not (it may run out of memory), the reason goes to stderr. Exits with 3 where PyTorch has no GPU.
--cpu --small: tiny sizes on the processor, to see that everything runs.
"""

import statistics
import sys
import time

import torch
import torch.nn.functional as F

SMALL = "--small" in sys.argv
DEVICE = "cpu" if "--cpu" in sys.argv else "cuda"
ROWS, WIDTH, VOCABULARY = (8, 32, 264) if SMALL else (8192, 3584, 151936)
CALLS = 3 if SMALL else 21


def random(*shape):
    return torch.randn(*shape, device=DEVICE, dtype=torch.bfloat16)


def rotated(make):
    """Inputs that together exceed the level-2 cache twice, as bench.cu has them."""
    first = make()
    size = sum(tensor.numel() * tensor.element_size() for tensor in first)
    cache = 1 if DEVICE == "cpu" else torch.cuda.get_device_properties(0).L2_cache_size
    return [first] + [make() for _ in range(min(63, 2 * cache // size))]


def milliseconds(call, inputs):
    times = []
    for i in range(CALLS + 3):
        arguments = inputs[i % len(inputs)]
        if DEVICE == "cpu":
            start = time.perf_counter()
            call(*arguments)
            times.append((time.perf_counter() - start) * 1e3)
            continue
        before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        before.record()
        call(*arguments)
        after.record()
        after.synchronize()
        times.append(before.elapsed_time(after))
    return statistics.median(times[3:])


def log_probs(logits, targets):
    wide = logits.float()
    all_log_probs = F.log_softmax(wide, -1)
    entropy = -(all_log_probs.exp() * all_log_probs).sum(-1)
    return all_log_probs.gather(-1, targets[:, None])[:, 0], entropy


def linear_log_probs(hidden, weight, targets):
    return log_probs(F.linear(hidden, weight), targets)


def gradients(of):
    """Forward and backward: PyTorch has no backward pass alone."""

    def run(*arguments):
        *inputs, targets = arguments
        leaves = [tensor.detach().requires_grad_() for tensor in inputs]
        return torch.autograd.grad(of(*leaves, targets)[0].sum(), leaves)

    return run


def sample(logits):
    return torch.multinomial(F.softmax(logits.float(), -1), 1)


def sample_truncated(logits):
    values, ids = torch.topk(logits.float(), min(50, logits.shape[-1]))
    probs = F.softmax(values, -1)
    kept = probs.masked_fill(probs.cumsum(-1) - probs >= 0.9, 0)
    return ids.gather(-1, torch.multinomial(kept, 1))


def main():
    if DEVICE == "cuda" and not torch.cuda.is_available():
        print("NoDevice: PyTorch has no GPU", file=sys.stderr)
        return 3
    targets = torch.randint(VOCABULARY, (ROWS,), device=DEVICE)
    sampled = min(ROWS, 256)

    def logits():
        return [random(ROWS, VOCABULARY), targets]

    def states():
        return [random(ROWS, WIDTH), random(VOCABULARY, WIDTH) / WIDTH**0.5, targets]

    cases = [
        ("product", F.linear, lambda: [random(ROWS, WIDTH), random(min(VOCABULARY, 16384), WIDTH)]),
        ("tokenLogProbs forward", log_probs, logits),
        ("tokenLogProbs forward and backward", gradients(log_probs), logits),
        ("linearLogProbs forward", linear_log_probs, states),
        ("linearLogProbs forward and backward", gradients(linear_log_probs), states),
        ("sampling", sample, lambda: [random(sampled, VOCABULARY)]),
        ("sampling top-k 50, top-p 0.9", sample_truncated, lambda: [random(sampled, VOCABULARY)]),
    ]
    for name, function, make in cases:
        cells = []
        for call in (function, torch.compile(function)):
            try:
                cells.append(f"{milliseconds(call, rotated(make)):.4g}")
            except Exception as error:  # noqa: BLE001 - whatever stops PyTorch is its result
                print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
                cells.append("failed")
            if DEVICE == "cuda":
                torch.cuda.empty_cache()
        print("\t".join([name, *cells]), flush=True)
    return 0


sys.exit(main())

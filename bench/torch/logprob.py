# PyTorch's side of bench/logprob.bench.ts: prints one JSON object of milliseconds (best of several runs).
import json
import sys
import time

import torch

torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
torch.manual_seed(0)
ROWS, VOCABULARY, WIDTH = 256, 151_936, 896


def best(run, repeats=5):
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


logits = torch.randn(ROWS, VOCABULARY) * 3
targets = torch.randint(0, VOCABULARY, (ROWS, 1))


def log_probs(x):
    return torch.log_softmax(x, -1).gather(-1, targets)


def with_entropy(x):
    p = torch.softmax(x, -1)
    return log_probs(x), torch.logsumexp(x, -1) - (p * x).sum(-1)


results = {"eager": best(lambda: with_entropy(logits))}
half = logits.bfloat16()
results["eagerBfloat16"] = best(lambda: with_entropy(half.float()), 2)
try:
    compiled = torch.compile(with_entropy)
    results["compiled"] = best(lambda: compiled(logits))
except Exception as error:  # no compiler on this machine
    results["compiledError"] = str(error)[:200]

leaf = logits.clone().requires_grad_()
lp, entropy = with_entropy(leaf)
total = lp.sum() + 0.01 * entropy.sum()
results["backward"] = best(lambda: torch.autograd.grad(total, leaf, retain_graph=True), 2)
del leaf, lp, entropy, total, half

hidden = torch.randn(ROWS, WIDTH)
weight = torch.randn(VOCABULARY, WIDTH) * 0.05
product = torch.empty(ROWS, VOCABULARY)
results["matmul"] = best(lambda: torch.mm(hidden, weight.T, out=product), 3)
print(json.dumps(results))

"""Times PyTorch cases on request: one JSON object per line on stdin, one answer per line on stdout.

{"family": F, "case": C, "mode": "eager" | "compiled"} -> {"ms": t} or {"error": text}; {"forget": true} -> {}.
bench/torch/<F>.py holds CASES = {C: setup}; setup() returns {"eager": function} and, where torch.compile makes sense,
{"compiled": function}. Usage: serve.py THREADS
"""
import importlib
import json
import os
import sys
import time

# Answers go to the real stdout; whatever a library prints must not end up among them.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)


def answer(**fields):
    answers.write(json.dumps(fields) + "\n")


try:
    import torch
except ImportError as error:
    answer(error=str(error))
    sys.exit()
torch.set_num_threads(int(sys.argv[1]))
SAMPLE_SECONDS = 5e-3
ready = {}


def timed(run, calls):
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - start) / calls


def prepare(family, case, mode):
    key = (family, case)
    if key not in ready:
        cases = importlib.import_module(family).CASES
        if case not in cases:
            raise KeyError(f"no case {case}")
        ready[key] = {"run": cases[case](), "calls": {}}
    entry = ready[key]
    if mode not in entry["run"]:
        return None, 0
    run = entry["run"][mode]
    if mode not in entry["calls"]:
        for _ in range(3):
            run()
        entry["calls"][mode] = max(1, round(SAMPLE_SECONDS / max(timed(run, 1), 1e-7)))
    return run, entry["calls"][mode]


answer(version=torch.__version__)
for line in sys.stdin:
    request = json.loads(line)
    if request.get("forget"):
        ready.clear()
        answer()
        continue
    try:
        run, calls = prepare(request["family"], request["case"], request["mode"])
        if run is None:
            answer()
        else:
            seconds = timed(run, calls)
            # The threads of PyTorch spin for a while after their work: let them go to sleep before others are timed.
            time.sleep(0.02)
            answer(ms=1e3 * seconds)
    except Exception as error:  # a case that cannot run is reported, the others go on
        answer(error=f"{type(error).__name__}: {error}".splitlines()[0][:200])

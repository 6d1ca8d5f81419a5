import os

import torch
from transformers import AutoModelForTokenClassification

ROWS = {"even": [256, 256, 256, 256], "uneven": [60, 120, 250, 400]}
models = []


def model():
    if not models:
        path = os.path.join(os.getcwd(), "out", "bench-model")
        models.append(AutoModelForTokenClassification.from_pretrained(path, dtype=torch.float32).eval())
    return models[0]


def rows(lengths):
    ids = torch.zeros(len(lengths), max(lengths), dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, length in enumerate(lengths):
        ids[row, :length] = torch.arange(length) * 7 % 2000
        mask[row, :length] = 1
    network = model()

    def run():
        with torch.no_grad():
            return network(input_ids=ids, attention_mask=mask).logits

    return {"eager": run}


def prefixes():
    question, step, steps, header = 60, 40, 12, 5
    inputs = []
    for k in range(steps):
        text = torch.arange(question + step * (k + 1)) * 7 % 2000
        inputs.append(torch.cat([text, torch.arange(2000 - header, 2000)])[None])
    network = model()

    def run():
        with torch.no_grad():
            return [network(input_ids=ids).logits[:, -1] for ids in inputs]

    return {"eager": run}


CASES = {name: (lambda lengths=lengths: rows(lengths)) for name, lengths in ROWS.items()}
CASES["prefixes"] = prefixes

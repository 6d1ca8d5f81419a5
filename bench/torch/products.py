import torch

LAYERS = [(3072, 384, 128), (3072, 128, 344), (3072, 1536, 512), (3072, 512, 1536)]
DECODED = [(64, 1536, 512), (64, 512, 1536), (256, 1536, 512), (256, 512, 1536)]


TIMES = {"decode": 64}


def product(form, rows, outputs, inputs):
    x, weight, y = torch.rand(rows, inputs), torch.rand(outputs, inputs), torch.rand(rows, outputs)
    left, right, out = {"dx": (y, weight, x), "dw": (y.t(), x, weight)}.get(form, (x, weight.t(), y))

    def run():
        for _ in range(TIMES.get(form, 8)):
            torch.mm(left, right, out=out)

    return {"eager": run}


CASES = {
    f"{form}_{rows}_{outputs}_{inputs}": (lambda form=form, layer=(rows, outputs, inputs): product(form, *layer))
    for form, layers in (("forward", LAYERS), ("dx", LAYERS), ("dw", LAYERS), ("decode", DECODED))
    for rows, outputs, inputs in layers
}

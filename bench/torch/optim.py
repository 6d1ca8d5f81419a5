import torch

PARAMETERS = 10_000_000


def adamw_10m():
    def stepper(**kind):
        parameter = torch.nn.Parameter(torch.randn(PARAMETERS))
        parameter.grad = torch.randn(PARAMETERS)
        return torch.optim.AdamW([parameter], lr=1e-3, weight_decay=0.01, **kind)

    fused, plain = stepper(fused=True), stepper(foreach=False)
    return {"eager": fused.step, "compiled": torch.compile(lambda: plain.step())}


def norm_10m():
    gradient = torch.randn(PARAMETERS)
    norm = lambda: torch.linalg.vector_norm(gradient)
    return {"eager": norm, "compiled": torch.compile(norm)}


CASES = {"adamw_10m": adamw_10m, "norm_10m": norm_10m}

import torch

RESPONSES, STEPS, TOKENS = 512, 64, 4096


def min_form():
    rewards = torch.randn(RESPONSES, STEPS)

    def run():
        weights = torch.softmax(-rewards / 0.1, -1)
        credited = weights * rewards
        return credited, credited.flip(-1).cumsum(-1).flip(-1), weights

    return {"eager": run, "compiled": torch.compile(run)}


def place_steps():
    values = torch.randn(RESPONSES, STEPS)
    step = torch.arange(TOKENS).mul(STEPS).div(TOKENS, rounding_mode="floor").expand(RESPONSES, TOKENS)

    def run():
        return values.gather(1, step)

    return {"eager": run, "compiled": torch.compile(run)}


CASES = {"min_form": min_form, "place_steps": place_steps}

import torch

RESPONSES, STEPS, TOKENS, GROUP = 512, 64, 4096, 8


def min_form_rloo():
    rewards = torch.randn(RESPONSES, STEPS)
    ends = (torch.arange(1, STEPS + 1) * (TOKENS // STEPS) - 1).expand(RESPONSES, STEPS)

    # The groups are equally large and lie side by side, which suits a padded layout best.
    def run():
        credited = torch.softmax(-rewards / 0.1, -1) * rewards
        tokens = torch.zeros(RESPONSES, TOKENS).scatter(1, ends, credited)
        returns = tokens.flip(-1).cumsum(-1).flip(-1)
        sums = returns.sum(-1).view(-1, GROUP)
        baseline = (sums.sum(-1, keepdim=True) - sums) / ((GROUP - 1) * TOKENS)
        return returns - baseline.view(-1, 1)

    return {"eager": run, "compiled": torch.compile(run)}


CASES = {"min_form_rloo": min_form_rloo}

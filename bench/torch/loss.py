import torch

RESPONSES, TOKENS = 64, 4096
EPSILON = 0.2


def ppo():
    old = torch.rand(RESPONSES, TOKENS) * 2 - 2.5
    log_probs = (old + 0.6 * torch.rand(RESPONSES, TOKENS) - 0.3).requires_grad_()
    advantages = torch.rand(RESPONSES, TOKENS) * 2 - 1
    mask = torch.ones(RESPONSES, TOKENS)

    # Masked means over a padded batch, with clip fraction, mean ratio and approximate KL, as trainers log them.
    def objective():
        count = mask.sum()
        d = (log_probs - old).clamp(-20, 20)
        ratio = d.exp()
        free = -advantages * ratio
        bounded = -advantages * ratio.clamp(1 - EPSILON, 1 + EPSILON)
        loss = (torch.maximum(free, bounded) * mask).sum() / count
        with torch.no_grad():
            stats = [((bounded > free).float() * mask).sum() / count, (ratio * mask).sum() / count, (-d * mask).sum() / count]
        return loss, stats

    def runner(function):
        def run():
            log_probs.grad = None
            loss, stats = function()
            loss.backward()
            return stats

        return run

    return {"eager": runner(objective), "compiled": runner(torch.compile(objective))}


CASES = {"ppo": ppo}

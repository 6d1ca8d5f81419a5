import torch

ROWS, WIDTH, VOCABULARY = 256, 896, 151_936


def matrix(rows, columns, scale):
    return (torch.rand(rows, columns) * 2 - 1) * scale


targets = (torch.arange(ROWS) * 7919 % VOCABULARY).unsqueeze(-1)


def with_entropy(logits):
    z = logits.float()  # no copy of float32; bfloat16 is widened, so that the results are as exact as ours
    log_probs = torch.log_softmax(z, -1).gather(-1, targets)
    entropy = torch.logsumexp(z, -1) - (torch.softmax(z, -1) * z).sum(-1)
    return log_probs, entropy


def forward(dtype):
    logits = matrix(ROWS, VOCABULARY, 5).to(dtype)
    compiled = torch.compile(with_entropy)
    return {"eager": lambda: with_entropy(logits), "compiled": lambda: compiled(logits)}


def backward():
    logits = matrix(ROWS, VOCABULARY, 5).requires_grad_()
    log_probs, entropy = with_entropy(logits)
    total = log_probs.sum() + 0.01 * entropy.sum()
    return {"eager": lambda: torch.autograd.grad(total, logits, retain_graph=True)}


def product():
    hidden, weight = matrix(ROWS, WIDTH, 1), matrix(VOCABULARY, WIDTH, 0.05)
    return {"eager": lambda: hidden @ weight.T}


CASES = {
    "float32": lambda: forward(torch.float32),
    "bfloat16": lambda: forward(torch.bfloat16),
    "backward": backward,
    "product": product,
}

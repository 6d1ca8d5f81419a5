import torch
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

SHAPES = {
    "small": dict(hidden_size=128, intermediate_size=344, num_hidden_layers=4, num_attention_heads=4, vocab_size=16),
    "big": dict(hidden_size=512, intermediate_size=1536, num_hidden_layers=3, num_attention_heads=8, vocab_size=512),
}
LENGTH, PROMPT = 48, 8
models = {}


def model(shape):
    if shape not in models:
        config = LlamaConfig(max_position_embeddings=2048, tie_word_embeddings=False, **SHAPES[shape])
        models[shape] = LlamaForCausalLM(config).float()
    return models[shape]


def ids_of(rows, length, vocabulary):
    i = torch.arange(rows * length)
    return ((i * 7 + (i >> 4)) % vocabulary).view(rows, length)


def step(shape, rows):
    network = model(shape).train()
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-6, weight_decay=0.0, fused=True)
    ids = ids_of(rows, LENGTH, SHAPES[shape]["vocab_size"])

    def run():
        logits = network(input_ids=ids, use_cache=False).logits[:, :-1]
        loss = torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), ids[:, 1:].reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    return {"eager": run}


def generate(shape, rows):
    network = model(shape).eval()
    prompts = ids_of(rows, PROMPT, SHAPES[shape]["vocab_size"])

    @torch.no_grad()
    def run():
        cache, ids, kept = DynamicCache(), prompts, []
        for _ in range(LENGTH - PROMPT):
            logits = network(input_ids=ids, past_key_values=cache, use_cache=True).logits[:, -1]
            logp = torch.log_softmax(logits, dim=-1)
            ids = torch.multinomial(logp.exp(), 1)
            kept.append(logp.gather(1, ids))

    return {"eager": run}


CASES = {
    f"{name}_{shape}_{rows}": (lambda job=job, shape=shape, rows=rows: job(shape, rows))
    for name, job in (("step", step), ("generate", generate))
    for shape in SHAPES
    for rows in (64, 256)
}

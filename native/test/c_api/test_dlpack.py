"""The C interface on tensors of another runtime, handed over as DLPack capsules: against torch in float64.

Usage: test_dlpack.py path/to/libminform.so. Exits with 77 (skipped) where torch is missing.
"""

import ctypes
import sys

try:
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    """DLTensor of dlpack.h."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Call(ctypes.Structure):
    _fields_ = [("device", ctypes.c_int32), ("stream", ctypes.c_void_p), ("status", ctypes.c_void_p)]


class Aggregation(ctypes.Structure):
    _fields_ = [("mode", ctypes.c_int32), ("groups", ctypes.c_void_p), ("group_count", ctypes.c_int64),
                ("prompt_tokens", ctypes.c_void_p), ("denominator", ctypes.c_double)]


class Policy(ctypes.Structure):
    _fields_ = [("form", ctypes.c_int32)] + [(name, ctypes.c_double) for name in (
        "low", "high", "dual_clip", "max_ratio", "tau_positive", "tau_negative", "log_ratio_clamp")]


class AdamW(ctypes.Structure):
    _fields_ = [("step", ctypes.c_int64)] + [(name, ctypes.c_double) for name in (
        "learning_rate", "beta1", "beta2", "epsilon", "weight_decay", "grad_scale")]


class Groups(ctypes.Structure):
    _fields_ = [("index", ctypes.c_void_p), ("count", ctypes.c_int64), ("raw_singletons", ctypes.c_int32),
                ("exclude_nan", ctypes.c_int32)]


class Rule(ctypes.Structure):
    _fields_ = [("temperature", ctypes.c_double), ("top_k", ctypes.c_int64), ("top_p", ctypes.c_double),
                ("min_p", ctypes.c_double)]


pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype = ctypes.c_void_p
pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]

FLOAT, BFLOAT, CPU, CUDA = 2, 4, 1, 2
DTYPES = {(FLOAT, 32): 0, (FLOAT, 64): 1, (BFLOAT, 16): 2, (FLOAT, 16): 3}

library = ctypes.CDLL(sys.argv[1])
library.minform_last_error.restype = ctypes.c_char_p


class Borrowed:
    """Memory of a tensor, as its capsule describes it."""

    def __init__(self, tensor):
        self.capsule = tensor.contiguous().__dlpack__()
        view = ctypes.cast(pointer_of(self.capsule, b"dltensor"), ctypes.POINTER(Tensor)).contents
        assert view.device.type in (CPU, CUDA) and view.dtype.lanes == 1
        self.on_cuda = view.device.type == CUDA
        self.dtype = DTYPES.get((view.dtype.code, view.dtype.bits))
        self.shape = [view.shape[i] for i in range(view.ndim)]
        self.data = ctypes.c_void_p((view.data or 0) + view.byte_offset)


def check(name, error):
    if error != 0:
        raise AssertionError(f"{name}: {error}: {library.minform_last_error().decode()}")


def close(name, actual, expected, bound):
    ratio = ((actual.double() - expected.double()).norm() / expected.double().norm()).item()
    if not ratio <= bound:
        raise AssertionError(f"{name}: {ratio} > {bound}")
    print(f"{name}: {ratio:.1e}")


def call_on(device):
    return ctypes.byref(Call(1 if device.type == "cuda" else 0, None, None))


double = ctypes.c_double
i64 = ctypes.c_int64


def log_probs(device, dtype, bound):
    torch.manual_seed(1)
    rows, vocabulary, temperature = 9, 1000, 0.8
    result = torch.float64 if dtype == torch.float64 else torch.float32
    logits = torch.randn(rows, vocabulary, dtype=torch.float64, device=device).mul(3).to(dtype)
    targets = torch.randint(0, vocabulary, (rows,), dtype=torch.int32, device=device)
    upstream = torch.randn(rows, dtype=result, device=device)

    exact = logits.double().clone().requires_grad_()
    expected = torch.log_softmax(exact / temperature, 1).gather(1, targets.long()[:, None])[:, 0]
    expected.backward(upstream.double())

    out, entropy = torch.empty(rows, dtype=result, device=device), torch.empty(rows, dtype=result, device=device)
    lse = torch.empty(rows, dtype=torch.float64, device=device)
    grad = torch.empty_like(logits)
    given, ids = Borrowed(logits), Borrowed(targets)
    assert given.shape == [rows, vocabulary]
    check("forward", library.minform_token_log_probs(
        call_on(device), given.dtype, i64(rows), i64(vocabulary), given.data, ids.data, double(temperature),
        Borrowed(out).data, Borrowed(entropy).data, None, Borrowed(lse).data))
    check("backward", library.minform_token_log_probs_backward(
        call_on(device), given.dtype, i64(rows), i64(vocabulary), given.data, ids.data, double(temperature),
        Borrowed(lse).data, None, Borrowed(upstream).data, None, Borrowed(grad).data))
    close(f"log-probs {dtype}", out, expected.detach(), 1e-6)
    close(f"gradient {dtype}", grad, exact.grad, bound)


def linear(device):
    torch.manual_seed(2)
    rows, width, vocabulary = 7, 40, 300
    hidden, weight, bias = (torch.randn(*shape, dtype=torch.float64, device=device, requires_grad=True)
                            for shape in ((rows, width), (vocabulary, width), (vocabulary,)))
    targets = torch.randint(0, vocabulary, (rows,), dtype=torch.int32, device=device)
    expected = torch.log_softmax(hidden @ weight.T + bias, 1).gather(1, targets.long()[:, None])[:, 0]
    upstream = torch.randn(rows, dtype=torch.float64, device=device)
    expected.backward(upstream)
    out, lse = torch.empty_like(upstream), torch.empty_like(upstream)
    grads = [torch.empty_like(t) for t in (hidden, weight, bias)]
    inputs = [Borrowed(t.detach()).data for t in (hidden, weight, bias)]
    sizes = (1, i64(rows), i64(width), i64(vocabulary))
    check("linear", library.minform_linear_log_probs(
        call_on(device), *sizes, *inputs, Borrowed(targets).data, double(1), Borrowed(out).data, None, None,
        Borrowed(lse).data))
    check("linear backward", library.minform_linear_log_probs_backward(
        call_on(device), *sizes, *inputs, Borrowed(targets).data, double(1), Borrowed(lse).data, None,
        Borrowed(upstream).data, None, *(Borrowed(grad.detach()).data for grad in grads), 0))
    close("linear", out, expected.detach(), 1e-12)
    for name, grad, tensor in zip(("hidden", "weight", "bias"), grads, (hidden, weight, bias)):
        close(f"gradient of {name}", grad.detach(), tensor.grad, 1e-12)


def adamw(device):
    torch.manual_seed(3)
    params = torch.randn(1000, dtype=torch.float64, device=device)
    reference = params.clone().requires_grad_()
    optimiser = torch.optim.AdamW([reference], lr=0.01, weight_decay=0.1)
    first, second = torch.zeros_like(params), torch.zeros_like(params)
    norm = torch.empty(2, dtype=torch.float64, device=device)
    for step in range(1, 4):
        reference.grad = torch.randn_like(params)
        grads = reference.grad.clone()
        torch.nn.utils.clip_grad_norm_([reference], 5.0)
        optimiser.step()
        tensors, counts = (ctypes.c_void_p * 1)(Borrowed(grads).data.value), (ctypes.c_int64 * 1)(1000)
        check("grad norm", library.minform_grad_norm(
            call_on(device), 1, i64(1), tensors, counts, double(5), Borrowed(norm).data, None))
        options = AdamW(step, 0.01, 0.9, 0.999, 1e-8, 0.1, 1)
        check("adamw", library.minform_adamw(
            call_on(device), 1, i64(1000), ctypes.byref(options), Borrowed(norm[1:]).data, None, Borrowed(params).data,
            Borrowed(grads).data, Borrowed(first).data, Borrowed(second).data))
        close("norm", norm[:1], grads.norm()[None], 1e-12)
    close("adamw", params, reference.detach(), 1e-12)


def losses(device):
    torch.manual_seed(4)
    total = 200
    offsets = torch.tensor([0, 70, 70, total], dtype=torch.int32, device=device)
    old, advantages, other = (torch.randn(total, dtype=torch.float64, device=device) for _ in range(3))
    now = (old + 0.3 * torch.randn_like(old)).requires_grad_()
    values, grad = torch.empty_like(old), torch.empty_like(old)
    slots = torch.empty(16, dtype=torch.float64, device=device)
    mean = ctypes.byref(Aggregation(0, None, 0, None, float("nan")))
    tokens = (i64(3), i64(total), Borrowed(offsets).data)

    def compare(name, loss):
        expected = loss.mean()
        (exact,) = torch.autograd.grad(expected, now)
        close(name, slots[:1], expected.detach()[None], 1e-12)
        close(f"gradient of {name}", grad, exact, 1e-12)

    ratio = (now - old).exp()
    clipped = torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)
    ppo = Policy(0, 0.8, 1.2, float("inf"), float("inf"), 1, 1, 20)
    check("ppo", library.minform_policy_loss(
        call_on(device), 1, ctypes.byref(ppo), mean, *tokens, Borrowed(now.detach()).data, Borrowed(old).data,
        Borrowed(advantages).data, 0, None, None, Borrowed(grad).data, Borrowed(slots).data))
    compare("ppo", -clipped)
    d = other - now
    check("kl", library.minform_kl(
        call_on(device), 1, 2, 0, double(20), mean, *tokens, Borrowed(now.detach()).data, Borrowed(other).data, None,
        None, Borrowed(values).data, Borrowed(grad).data, Borrowed(slots).data))
    compare("k3", d.exp() - 1 - d)
    check("value", library.minform_value_loss(
        call_on(device), 1, double(0.2), mean, *tokens, Borrowed(now.detach()).data, Borrowed(old).data,
        Borrowed(other).data, None, Borrowed(grad).data, Borrowed(slots).data))
    near = old + (now - old).clamp(-0.2, 0.2)
    compare("value", 0.5 * torch.maximum((now - other) ** 2, (near - other) ** 2))


def advantages(device):
    torch.manual_seed(5)
    rewards = torch.randn(12, dtype=torch.float64, device=device)
    index = (torch.arange(12, device=device) % 3).to(torch.int32)
    out = torch.empty_like(rewards)
    groups = ctypes.byref(Groups(Borrowed(index).data.value, 3, 0, 0))
    check("grpo", library.minform_outcomes(
        call_on(device), 1, 1, 1, double(0), 1, i64(12), Borrowed(rewards).data, None, groups, Borrowed(out).data, None))
    by_group = rewards.view(4, 3)
    close("grpo", out, ((by_group - by_group.mean(0)) / by_group.std(0)).flatten(), 1e-12)
    check("whiten", library.minform_whiten(
        call_on(device), 1, 1, double(0), 1, i64(12), Borrowed(rewards).data, None, Borrowed(out).data))
    close("whiten", out, (rewards - rewards.mean()) / rewards.std(), 1e-12)


def sampling(device):
    torch.manual_seed(6)
    rows, vocabulary = 4000, 30
    logits = torch.randn(1, vocabulary, dtype=torch.float32, device=device).expand(rows, vocabulary).contiguous()
    counters = torch.zeros(rows, 2, dtype=torch.int64, device=device)
    counters[:, 1] = torch.arange(rows, device=device)
    tokens = torch.empty(rows, dtype=torch.int32, device=device)
    logp, left = (torch.empty(rows, dtype=torch.float32, device=device) for _ in range(2))
    rule = ctypes.byref(Rule(0.7, 10, 1, 0))
    check("sampling", library.minform_sample_tokens(
        call_on(device), 0, rule, ctypes.c_uint64(1), i64(rows), i64(vocabulary), Borrowed(logits).data,
        Borrowed(counters).data, Borrowed(tokens).data, Borrowed(logp).data, Borrowed(left).data))
    whole = torch.log_softmax(logits[0].double() / 0.7, 0)
    close("log-probs of draws", logp, whole[tokens.long()], 1e-6)
    top = torch.topk(whole, 10)
    kept = torch.full_like(whole, -float("inf"))
    kept[top.indices] = torch.log_softmax(top.values, 0)
    close("their truncated log-probs", left, kept[tokens.long()], 1e-6)
    p = kept.exp() * rows
    seen = torch.bincount(tokens.long(), minlength=vocabulary).double()
    assert ((seen - p).abs() <= 5 * (p * (1 - p / rows)).sqrt()).all(), (seen, p)


def bad_value(device):
    values = torch.tensor([1.0, float("nan")], dtype=torch.float32, device=device)
    offsets = torch.tensor([0, 2], dtype=torch.int32, device=device)
    error = library.minform_returns(call_on(device), 0, double(1), i64(1), i64(2), Borrowed(offsets).data,
                                    Borrowed(values).data, None, Borrowed(torch.empty_like(values)).data)
    assert error == 1 and b"index 1" in library.minform_last_error(), (error, library.minform_last_error())


devices = [torch.device("cpu")]
if torch.cuda.is_available() and library.minform_cuda_devices(None, ctypes.c_uint64(0)) > 0:
    devices.append(torch.device("cuda"))
for device in devices:
    print(device)
    log_probs(device, torch.float64, 1e-12)
    log_probs(device, torch.float32, 1e-6)
    log_probs(device, torch.bfloat16, 4e-3)
    log_probs(device, torch.float16, 1e-3)
    linear(device)
    adamw(device)
    losses(device)
    advantages(device)
    sampling(device)
    bad_value(device)
    if device.type == "cuda":
        torch.cuda.synchronize()
print("ok")

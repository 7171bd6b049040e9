#!/usr/bin/env python3
"""Reference values from PyTorch for headlab's parity tests, written as safetensors.

Needs Debian's python3-torch (1.13). Regenerating on another machine moves values by a few ulp at most.
usage: make_golden.py OUTDIR
Weights multiply from the right (y = x W + b), so every W is [in, out]; head h owns columns
[h*D, (h+1)*D) of W_Q, W_K, W_V and rows [h*D, (h+1)*D) of W_O. All values are float32.
"""
import json, math, struct, sys
import torch
import torch.nn.functional as F

def save(path, tensors, metadata):
    """A safetensors file: u64 header length, JSON header, then the bytes, in order and without holes."""
    header, offset, blobs = {"__metadata__": {k: str(v) for k, v in metadata.items()}}, 0, []
    for name, t in tensors.items():
        t = t.detach().contiguous()
        dtype = {torch.float32: "F32", torch.int64: "I64", torch.bool: "BOOL"}[t.dtype]
        blob = t.numpy().tobytes()
        header[name] = {"dtype": dtype, "shape": list(t.shape), "data_offsets": [offset, offset + len(blob)]}
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))

def attention(x_q, x_kv, p, prefix, heads, visible):
    """Returns output [B,T,C] and pattern [B,H,T,S]; visible is [*,T,S] bool, True where a query may look."""
    B, T, _ = x_q.shape
    S = x_kv.shape[1]
    split = lambda t, n: t.view(B, n, heads, -1).transpose(1, 2)
    q = split(x_q @ p[prefix + "W_Q"] + p[prefix + "b_Q"], T)
    k = split(x_kv @ p[prefix + "W_K"] + p[prefix + "b_K"], S)
    v = split(x_kv @ p[prefix + "W_V"] + p[prefix + "b_V"], S)
    scores = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).masked_fill(~visible, float("-inf"))
    pattern = scores.softmax(-1)
    z = (pattern @ v).transpose(1, 2).reshape(B, T, -1)
    return z @ p[prefix + "W_O"] + p[prefix + "b_O"], pattern

def attention_parameters(prefix, C, heads, D, Dv):
    r = lambda *s: torch.randn(*s) / math.sqrt(s[0])
    return {prefix + "W_Q": r(C, heads * D), prefix + "b_Q": torch.randn(heads * D) * .1,
            prefix + "W_K": r(C, heads * D), prefix + "b_K": torch.randn(heads * D) * .1,
            prefix + "W_V": r(C, heads * Dv), prefix + "b_V": torch.randn(heads * Dv) * .1,
            prefix + "W_O": r(heads * Dv, C), prefix + "b_O": torch.randn(C) * .1}

def with_grads(parameters, loss):
    loss.backward()
    return {"grad." + k: v.grad.clone() for k, v in parameters.items()}

def attention_case(path, seed, B, T, S, C, heads, D, Dv, causal, lengths):
    torch.manual_seed(seed)
    p = attention_parameters("", C, heads, D, Dv)
    p["x_q"] = torch.randn(B, T, C)
    if S:
        p["x_kv"] = torch.randn(B, S, C)
    for t in p.values():
        t.requires_grad_(True)
    kv = p["x_kv"] if S else p["x_q"]
    n = kv.shape[1]
    visible = torch.ones(B, 1, T, n, dtype=torch.bool)
    if causal:
        visible &= torch.tril(torch.ones(T, n, dtype=torch.bool))
    if lengths:
        visible &= (torch.arange(n) < torch.tensor(lengths)[:, None])[:, None, None, :]
    y, pattern = attention(p["x_q"], kv, p, "", heads, visible)
    dy = torch.randn_like(y)
    grads = with_grads(p, (y * dy).sum())
    save(path, {**p, "visible": visible.expand(B, 1, T, n), "y": y, "pattern": pattern, "dy": dy, **grads},
         {"heads": heads, "causal": causal, "note": "loss = sum(y * dy)"})

def decoder_parameters(V, T, C, heads, L, d_ff):
    D = C // heads
    r = lambda *s: torch.randn(*s) / math.sqrt(s[0])
    p = {"embed.W_E": torch.randn(V, C) * .5, "pos_embed.W_pos": torch.randn(T, C) * .5}
    for l in range(L):
        b = f"blocks.{l}."
        p.update({b + "ln1.w": 1 + .1 * torch.randn(C), b + "ln1.b": .1 * torch.randn(C)})
        p.update(attention_parameters(b + "attn.", C, heads, D, D))
        p.update({b + "ln2.w": 1 + .1 * torch.randn(C), b + "ln2.b": .1 * torch.randn(C),
                  b + "mlp.W_in": r(C, d_ff), b + "mlp.b_in": .1 * torch.randn(d_ff),
                  b + "mlp.W_out": r(d_ff, C), b + "mlp.b_out": .1 * torch.randn(C)})
    p.update({"ln_final.w": 1 + .1 * torch.randn(C), "ln_final.b": .1 * torch.randn(C),
              "unembed.W_U": r(C, V), "unembed.b_U": .1 * torch.randn(V)})
    return p

def decoder(p, tokens, heads, L, norm, activation, visible):
    """Pre-norm: x + f(ln(x)); post-norm: ln(x + f(x)), and then ln_final is not applied."""
    C = p["embed.W_E"].shape[1]
    ln = lambda x, name: F.layer_norm(x, (C,), p[name + ".w"], p[name + ".b"], 1e-5)
    act = {"gelu": lambda x: F.gelu(x, approximate="tanh"), "relu": F.relu}[activation]
    x = p["embed.W_E"][tokens] + p["pos_embed.W_pos"][:tokens.shape[1]]
    patterns = []
    for l in range(L):
        b = f"blocks.{l}."
        mlp = lambda t: act(t @ p[b + "mlp.W_in"] + p[b + "mlp.b_in"]) @ p[b + "mlp.W_out"] + p[b + "mlp.b_out"]
        h = ln(x, b + "ln1") if norm == "pre" else x
        a, pattern = attention(h, h, p, b + "attn.", heads, visible)
        patterns.append(pattern)
        x = x + a if norm == "pre" else ln(x + a, b + "ln1")
        x = x + mlp(ln(x, b + "ln2")) if norm == "pre" else ln(x + mlp(x), b + "ln2")
    x = ln(x, "ln_final") if norm == "pre" else x
    return x @ p["unembed.W_U"] + p["unembed.b_U"], torch.stack(patterns)

def decoder_case(path, seed, norm, activation, causal, V=11, T=8, B=3, C=16, heads=2, L=2, d_ff=40, steps=10):
    torch.manual_seed(seed)
    p = decoder_parameters(V, T, C, heads, L, d_ff)
    tokens, targets = torch.randint(V, (B, T)), torch.randint(V, (B, T))
    targets[0, :3] = -1                                  # -1: no loss at this position
    visible = torch.ones(T, T, dtype=torch.bool)
    if causal:
        visible = torch.tril(visible)
    initial = {k: v.clone() for k, v in p.items()}
    for t in p.values():
        t.requires_grad_(True)
    loss_of = lambda logits: F.cross_entropy(logits.view(-1, V), targets.view(-1), ignore_index=-1)
    logits, patterns = decoder(p, tokens, heads, L, norm, activation, visible)
    loss = loss_of(logits)
    used = {k: v for k, v in p.items() if norm == "pre" or not k.startswith("ln_final")}
    grads = with_grads(used, loss)
    out = {**initial, "tokens": tokens, "targets": targets, "logits": logits, "patterns": patterns,
           "loss": loss.reshape(1), **grads}
    # ten AdamW steps on the same batch; decay on tensors with two axes only; clip to global norm 1
    decay = [v for v in used.values() if v.dim() >= 2]
    plain = [v for v in used.values() if v.dim() < 2]
    opt = torch.optim.AdamW([{"params": decay, "weight_decay": .1}, {"params": plain, "weight_decay": 0.}],
                            lr=1e-2, betas=(.9, .999), eps=1e-5)
    losses, norms = [], []
    for _ in range(steps):
        opt.zero_grad()
        loss = loss_of(decoder(p, tokens, heads, L, norm, activation, visible)[0])
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(list(used.values()), 1.0).reshape(1))
        opt.step()
        losses.append(loss.detach().reshape(1))
    out.update({"step_losses": torch.cat(losses), "step_grad_norms": torch.cat(norms)})
    out.update({"after." + k: v for k, v in used.items()})
    save(path, out, {"heads": heads, "layers": L, "norm": norm, "activation": activation, "causal": causal,
                     "layer_norm_eps": 1e-5, "optimizer": "AdamW lr=1e-2 betas=0.9,0.999 eps=1e-5 decay=0.1 on matrices, clip 1.0"})

def main(out):
    attention_case(f"{out}/attention_causal.safetensors", 1, B=2, T=7, S=0, C=12, heads=3, D=4, Dv=4, causal=True, lengths=None)
    attention_case(f"{out}/attention_cross.safetensors", 2, B=3, T=5, S=9, C=12, heads=2, D=6, Dv=4, causal=False, lengths=[9, 4, 1])
    decoder_case(f"{out}/decoder_pre_gelu.safetensors", 3, "pre", "gelu", True)
    decoder_case(f"{out}/encoder_post_relu.safetensors", 4, "post", "relu", False)

main(sys.argv[1])

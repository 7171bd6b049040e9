#!/usr/bin/env python3
# Models as others store them, with logits from PyTorch, for the tests of import and export.
#
# Each function below is a forward pass as transformers, TransformerLens or nanoGPT write it, over their
# names and their config. Needs Debian's python3-torch (1.13).
# usage: make_layouts.py OUTDIR         writes OUTDIR/NAME/{config.json, model*.safetensors, expected.safetensors}
#        make_layouts.py --run LAYOUT DIR TOKENS.json   prints the logits of what `export` wrote
import json, math, os, struct, sys
import numpy, torch
import torch.nn.functional as F

TYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64}

def save(path, tensors):
    header, blobs, at = {}, [], 0
    for name, t in tensors.items():
        dtype = next(d for d, kind in TYPES.items() if kind == t.dtype)
        bits = t.contiguous().view(torch.int16) if dtype == "BF16" else t.contiguous()
        blobs.append(bits.numpy().tobytes())
        header[name] = {"dtype": dtype, "shape": list(t.shape), "data_offsets": [at, at + len(blobs[-1])]}
        at += len(blobs[-1])
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))

def load_file(path):
    """safetensors.torch.load_file, for files of F32 alone."""
    data = open(path, "rb").read()
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    header = {k: v for k, v in json.loads(data[8:begin]).items() if k != "__metadata__"}
    read = lambda v: numpy.frombuffer(data[begin + v["data_offsets"][0]:begin + v["data_offsets"][1]], "<f4")
    return {k: torch.tensor(read(v)).reshape(v["shape"]) for k, v in header.items()}

def causal(scores, window=None):
    """Query t sees the keys s with t - window < s <= t."""
    T = scores.shape[-1]
    distance = torch.arange(T)[:, None] - torch.arange(T)
    hidden = distance < 0 if window is None else (distance < 0) | (distance >= window)
    return scores.masked_fill(hidden, float("-inf")).softmax(-1)

def attend(q, k, v, window=None):  # [B, H, T, D]
    return causal(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), window) @ v

def rotate_half(x, base):
    D, T = x.shape[-1], x.shape[-2]
    angle = torch.outer(torch.arange(T), base ** (-torch.arange(0, D, 2) / D)).repeat(1, 2)
    a, b = x.chunk(2, -1)
    return x * angle.cos() + torch.cat((-b, a), -1) * angle.sin()

def rotate_pairs(x, base):
    """Helium and ERNIE 4.5: pairs are neighbours."""
    D, T = x.shape[-1], x.shape[-2]
    angle = torch.outer(torch.arange(T), base ** (-torch.arange(0, D, 2) / D)).repeat_interleave(2, -1)
    turned = torch.stack((-x[..., 1::2], x[..., 0::2]), -1).flatten(-2)
    return x * angle.cos() + turned * angle.sin()

def windows_of(c):
    """configuration_qwen2.py: which layers have a sliding window."""
    L, window = c["num_hidden_layers"], c.get("sliding_window")
    if not c.get("use_sliding_window", True):
        window = None
    types = c.get("layer_types") or ["sliding_attention" if i >= c.get("max_window_layers", 0) else "full_attention" for i in range(L)]
    return [window if kind == "sliding_attention" else None for kind in types]

def gpt2(p, c, tokens, linear, act, eps):
    """modeling_gpt2.py, with Conv1D; model.py of nanoGPT, with nn.Linear."""
    C, B, T = c["n_embd"], *tokens.shape
    D, get = C // c["n_head"], lambda name: p.get(name)
    ln = lambda x, n: F.layer_norm(x, (C,), p[n + ".weight"], get(n + ".bias"), eps)
    x = p["wte.weight"][tokens] + p["wpe.weight"][:T]
    for l in range(c["n_layer"]):
        h = f"h.{l}."
        qkv = linear(ln(x, h + "ln_1"), p[h + "attn.c_attn.weight"], get(h + "attn.c_attn.bias")).chunk(3, -1)
        z = attend(*(t.view(B, T, -1, D).transpose(1, 2) for t in qkv)).transpose(1, 2).reshape(B, T, -1)
        x = x + linear(z, p[h + "attn.c_proj.weight"], get(h + "attn.c_proj.bias"))
        u = act(linear(ln(x, h + "ln_2"), p[h + "mlp.c_fc.weight"], get(h + "mlp.c_fc.bias")))
        x = x + linear(u, p[h + "mlp.c_proj.weight"], get(h + "mlp.c_proj.bias"))
    return F.linear(ln(x, "ln_f"), p["wte.weight"])

def huggingface_gpt2(p, c, tokens):
    conv1d = lambda x, W, b: x @ W + b
    return gpt2(p, c, tokens, conv1d, lambda x: F.gelu(x, approximate="tanh"), c["layer_norm_epsilon"])

def nanogpt(p, c, tokens):
    return gpt2(p, c, tokens, F.linear, F.gelu, 1e-5)

def huggingface_llama(p, c, tokens):
    B, T = tokens.shape
    H, G, D = c["num_attention_heads"], c["num_key_value_heads"] or c["num_attention_heads"], c["head_dim"]
    norm = lambda x, n: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + c["rms_norm_eps"]) * p[n + ".weight"]
    linear = lambda x, n: F.linear(x, p[n + ".weight"], p.get(n + ".bias"))
    rotate = rotate_pairs if c["model_type"] in ("helium", "ernie4_5") else rotate_half
    x = p["embed_tokens.weight"][tokens]
    for l in range(c["num_hidden_layers"]):
        b = f"layers.{l}."
        h = norm(x, b + "input_layernorm")
        q, k, v = (linear(h, b + f"self_attn.{n}_proj").view(B, T, -1, D).transpose(1, 2) for n in "qkv")
        k, v = (t.repeat_interleave(H // G, 1) for t in (k, v))
        z = attend(rotate(q, c["rope_theta"]), rotate(k, c["rope_theta"]), v, windows_of(c)[l])
        x = x + linear(z.transpose(1, 2).reshape(B, T, -1), b + "self_attn.o_proj")
        h = norm(x, b + "post_attention_layernorm")
        up, gate = linear(h, b + "mlp.up_proj"), linear(h, b + "mlp.gate_proj")
        x = x + linear(F.silu(gate) * up, b + "mlp.down_proj")
    return F.linear(norm(x, "norm"), p.get("lm_head.weight", p["embed_tokens.weight"]))

def transformerlens(p, c, tokens):
    C, B, T, D = c["d_model"], *tokens.shape, c["d_head"]
    act = {"gelu": F.gelu, "gelu_new": lambda x: F.gelu(x, approximate="tanh"), "relu": F.relu, "silu": F.silu}[c["act_fn"]]
    rotary = c["positional_embedding_type"] == "rotary"
    def norm(x, n):
        if c["normalization_type"].startswith("LN"):
            return F.layer_norm(x, (C,), p.get(n + ".w"), p.get(n + ".b"), c["eps"])
        return x / (x.pow(2).mean(-1, keepdim=True) + c["eps"]).sqrt() * p.get(n + ".w", 1)
    heads = lambda t: t if t.dim() == 3 else t.view(C, -1, D).transpose(0, 1)  # [H, C, D]
    x = p["embed.W_E"][tokens] + (0 if rotary else p["pos_embed.W_pos"][:T])
    for l in range(c["n_layers"]):
        b = f"blocks.{l}."
        h = norm(x, b + "ln1")
        shared = "_" if b + "attn._W_K" in p else ""
        W = {n: p[f"{b}attn.{shared if n != 'Q' else ''}W_{n}"] for n in "QKV"}
        bias = {n: p.get(f"{b}attn.{shared if n != 'Q' else ''}b_{n}") for n in "QKV"}
        q, k, v = (torch.einsum("btc,hcd->bhtd", h, heads(W[n])) + (0 if bias[n] is None else bias[n].reshape(1, -1, 1, D)) for n in "QKV")
        if rotary:
            rotate = rotate_pairs if c.get("rotary_adjacent_pairs") else rotate_half
            q, k = rotate(q, c["rotary_base"]), rotate(k, c["rotary_base"])
        is_local = c.get("use_local_attn") and c["attn_types"][l] == "local"
        k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], 1) for t in (k, v))
        z = attend(q, k, v, c["window_size"] if is_local else None)
        x = x + torch.einsum("bhtd,hdc->btc", z, p[b + "attn.W_O"].reshape(-1, D, C)) + p.get(b + "attn.b_O", 0)
        h, u = norm(x, b + "ln2"), 1
        if c["gated_mlp"]:
            u, pre = h @ p[b + "mlp.W_in"], h @ p[b + "mlp.W_gate"]  # b_in is added after the product
        else:
            pre = h @ p[b + "mlp.W_in"] + p.get(b + "mlp.b_in", 0)
        mid = act(pre) * u + (p.get(b + "mlp.b_in", 0) if c["gated_mlp"] else 0)
        x = x + mid @ p[b + "mlp.W_out"] + p.get(b + "mlp.b_out", 0)
    return norm(x, "ln_final") @ p["unembed.W_U"] + p.get("unembed.b_U", 0)

def stripped(p):
    """Without the prefixes that Python packages add."""
    for prefix in ("_orig_mod.", "transformer.", "model."):
        p = {k[len(prefix):] if k.startswith(prefix) else k: v for k, v in p.items()}
    return p

def random_of(shapes, seed, dtype=torch.float32):
    torch.manual_seed(seed)
    scale = lambda s: .5 if len(s) == 1 else 1 / math.sqrt(s[-2])
    near_one = lambda n: n.endswith((".w", "norm.weight", "layernorm.weight")) or "ln_" in n and n.endswith("weight")
    return {n: (near_one(n) + scale(s) * torch.randn(*s)).to(dtype) for n, s in shapes.items()}

def write(out, name, run, config, tensors, shards=1, index_of=None):
    folder = os.path.join(out, name)
    os.makedirs(folder, exist_ok=True)
    json.dump(config, open(os.path.join(folder, "config.json"), "w"), indent=1)
    names = list(tensors)
    if shards == 1:
        save(os.path.join(folder, "model.safetensors"), tensors)
    else:
        file = lambda i: f"model-{i % shards + 1:05}-of-{shards:05}.safetensors"
        for s in range(shards):
            save(os.path.join(folder, file(s)), {n: tensors[n] for i, n in enumerate(names) if i % shards == s})
        json.dump({"weight_map": {n: file(i) for i, n in enumerate(names)}},
                  open(os.path.join(folder, "model.safetensors.index.json"), "w"), indent=1)
    tokens = torch.randint(V, (2, 9))
    floats = stripped({n: t.float() for n, t in tensors.items()})
    save(os.path.join(folder, "expected.safetensors"), {"tokens": tokens, "logits": run(floats, config, tokens)})

V, T, C, H, D, L, FF = 23, 12, 16, 4, 4, 2, 40

def gpt2_shapes(turned, bias, gone=0):
    w = lambda n, i, o: {n + ".weight": (o, i) if turned else (i, o), **({n + ".bias": (o,)} if bias else {})}
    ln = lambda n: {n + ".weight": (C,), **({n + ".bias": (C,)} if bias else {})}
    shapes = {"wte.weight": (V, C), "wpe.weight": (T, C)}
    for l in range(L):
        h, width = f"h.{l}.", C - (gone * D if l == 0 else 0)
        shapes.update({**ln(h + "ln_1"), **w(h + "attn.c_attn", C, 3 * width), **w(h + "attn.c_proj", width, C),
                       **ln(h + "ln_2"), **w(h + "mlp.c_fc", C, 4 * C), **w(h + "mlp.c_proj", 4 * C, C)})
    return {**shapes, **ln("ln_f")}

def lens_shapes(combined, rotary):
    bias, shapes = not rotary, {"embed.W_E": (V, C)}
    if not rotary:
        shapes["pos_embed.W_pos"] = (T, C)
    ln = lambda n: {n + ".w": (C,), **({n + ".b": (C,)} if bias else {})}
    for l in range(L):
        b = f"blocks.{l}."
        shapes.update(ln(b + "ln1"))
        for n in "QKV":
            shapes[f"{b}attn.W_{n}"] = (C, H * D) if combined else (H, C, D)
            if bias:
                shapes[f"{b}attn.b_{n}"] = (H * D,) if combined else (H, D)
        shapes[b + "attn.W_O"] = (H * D, C) if combined else (H, D, C)
        shapes.update({**({b + "attn.b_O": (C,)} if bias else {}), **ln(b + "ln2"), b + "mlp.W_in": (C, FF)})
        shapes.update({b + "mlp.b_in": (FF,)} if bias else {b + "mlp.W_gate": (C, FF)})
        shapes.update({b + "mlp.W_out": (FF, C), **({b + "mlp.b_out": (C,)} if bias else {})})
    return {**shapes, **ln("ln_final"), "unembed.W_U": (C, V), **({"unembed.b_U": (V,)} if bias else {})}

def main(out):
    size = {"n_layer": L, "n_head": H, "n_embd": C, "vocab_size": V}
    tensors = random_of(gpt2_shapes(False, True, gone=1), 1)
    tensors.update({f"h.{l}.attn.bias": torch.ones(1, 1, T, T) for l in range(L)})
    write(out, "huggingface-gpt2", huggingface_gpt2,
          {**size, "model_type": "gpt2", "n_positions": T, "n_ctx": T, "n_inner": None, "layer_norm_epsilon": 1e-5,
           "activation_function": "gelu_new", "pruned_heads": {"0": [1]}}, tensors)

    llama = {"model.embed_tokens.weight": (V, C)}
    for l in range(L):
        b, a = f"model.layers.{l}.", f"model.layers.{l}.self_attn."
        llama.update({b + "input_layernorm.weight": (C,), a + "q_proj.weight": (H * 6, C), a + "k_proj.weight": (12, C),
                      a + "v_proj.weight": (12, C), a + "o_proj.weight": (C, H * 6), b + "post_attention_layernorm.weight": (C,),
                      b + "mlp.up_proj.weight": (FF, C), b + "mlp.gate_proj.weight": (FF, C), b + "mlp.down_proj.weight": (C, FF)})
    llama.update({"model.norm.weight": (C,), "lm_head.weight": (V, C)})
    write(out, "huggingface-llama", huggingface_llama,
          {"model_type": "llama", "num_hidden_layers": L, "num_attention_heads": H, "num_key_value_heads": 2, "head_dim": 6,
           "hidden_size": C, "intermediate_size": FF, "max_position_embeddings": T, "vocab_size": V, "hidden_act": "silu",
           "rms_norm_eps": 1e-3, "rope_theta": 500.0, "tie_word_embeddings": False, "rope_scaling": None},
          random_of(llama, 2, torch.bfloat16), shards=3)

    lens = {"n_layers": L, "n_heads": H, "d_model": C, "d_head": D, "d_mlp": FF, "n_ctx": T, "d_vocab": V, "attention_dir": "causal"}
    tensors = random_of(lens_shapes(False, False), 3)
    tensors.update({f"blocks.{l}.attn.mask": torch.ones(T, T) for l in range(L)})
    write(out, "transformerlens", transformerlens,
          {**lens, "act_fn": "gelu", "gated_mlp": False, "normalization_type": "LN", "eps": 1e-5, "positional_embedding_type": "standard"}, tensors)
    write(out, "transformerlens-combined", transformerlens,
          {**lens, "act_fn": "silu", "gated_mlp": True, "normalization_type": "RMS", "eps": 1e-6, "rotary_dim": D,
           "positional_embedding_type": "rotary", "rotary_base": 10000}, random_of(lens_shapes(True, True), 4))

    names = gpt2_shapes(True, False)
    tensors = {"_orig_mod.transformer." + n: t for n, t in random_of(names, 5, torch.float16).items()}
    tensors["_orig_mod.lm_head.weight"] = tensors["_orig_mod.transformer.wte.weight"].clone()
    write(out, "nanogpt", nanogpt, {**size, "block_size": T, "bias": False, "dropout": 0.0}, tensors)

    relatives(out)
    by_hand(os.path.join(out, "induction-by-hand"))

def relatives(out):
    """Families whose tensors are Llama's and whose arithmetic differs in one thing; the same in TransformerLens."""
    def llama(names, biased=()):
        shapes = {"model.embed_tokens.weight": (V, C), "model.norm.weight": (C,), "lm_head.weight": (V, C)}
        for l in range(L):
            b = f"model.layers.{l}."
            maps = {"self_attn.q_proj": (H * D, C), "self_attn.k_proj": (2 * D, C), "self_attn.v_proj": (2 * D, C), "self_attn.o_proj": (C, H * D),
                    "mlp.up_proj": (FF, C), "mlp.gate_proj": (FF, C), "mlp.down_proj": (C, FF)}
            shapes.update({b + "input_layernorm.weight": (C,), b + "post_attention_layernorm.weight": (C,)})
            shapes.update({b + n + ".weight": shape for n, shape in maps.items()})
            shapes.update({b + n + ".bias": maps[n][:1] for n in biased})
        return {**{"num_hidden_layers": L, "num_attention_heads": H, "num_key_value_heads": 2, "head_dim": D, "hidden_size": C, "intermediate_size": FF,
                   "max_position_embeddings": T, "vocab_size": V, "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 100.0,
                   "tie_word_embeddings": False}, **names}, shapes
    qkv = ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"]
    every = qkv + ["self_attn.o_proj", "mlp.up_proj", "mlp.gate_proj", "mlp.down_proj"]
    cases = {"mistral": llama({"model_type": "mistral", "architectures": ["MistralForCausalLM"], "sliding_window": 3, "attention_dropout": 0.0}),
             "qwen2": llama({"model_type": "qwen2", "use_sliding_window": True, "sliding_window": 4, "max_window_layers": 1}, qkv),
             "llama-biases": llama({"model_type": "llama", "attention_bias": True, "mlp_bias": True, "pretraining_tp": 1}, every),
             "helium": llama({"model_type": "helium", "attention_bias": False, "mlp_bias": False}),
             "ernie": llama({"model_type": "ernie4_5", "use_bias": True}, every)}
    for seed, (name, (config, shapes)) in enumerate(cases.items(), 10):
        write(out, name, huggingface_llama, config, random_of(shapes, seed))

    lens = {"n_layers": L, "n_heads": H, "d_model": C, "d_head": D, "d_mlp": FF, "n_ctx": T, "d_vocab": V, "d_vocab_out": V, "attn_scale": math.sqrt(D),
            "eps": 1e-5, "attention_dir": "causal", "model_name": "custom"}
    shapes = {n: s for n, s in lens_shapes(False, False).items() if ".ln" not in n and not n.startswith("ln_final")}
    write(out, "transformerlens-local", transformerlens,
          {**lens, "act_fn": "gelu_new", "gated_mlp": False, "normalization_type": "LNPre", "positional_embedding_type": "standard",
           "use_local_attn": True, "window_size": 3, "attn_types": ["global", "local"]}, random_of(shapes, 20))
    shapes = {"embed.W_E": (V, C), "unembed.W_U": (C, V), "unembed.b_U": (V,), "ln_final.w": (C,)}
    for l in range(L):
        b = f"blocks.{l}."
        shapes.update({b + "ln1.w": (C,), b + "ln2.w": (C,), b + "attn.W_Q": (H, C, D), b + "attn.b_Q": (H, D), b + "attn.W_O": (H, D, C), b + "attn.b_O": (C,),
                       b + "mlp.W_in": (C, FF), b + "mlp.W_gate": (C, FF), b + "mlp.b_in": (FF,), b + "mlp.W_out": (FF, C), b + "mlp.b_out": (C,)})
        for n in "KV":
            shapes.update({b + f"attn._W_{n}": (2, C, D), b + f"attn._b_{n}": (2, D)})
    tensors = random_of(shapes, 21)
    tensors.update({n: t * 0 for n, t in tensors.items() if n.endswith("mlp.b_in")})
    write(out, "transformerlens-llama", transformerlens,
          {**lens, "act_fn": "silu", "gated_mlp": True, "normalization_type": "RMS", "positional_embedding_type": "rotary", "rotary_dim": D,
           "rotary_base": 100, "rotary_adjacent_pairs": True, "n_key_value_heads": 2, "use_NTK_by_parts_rope": False}, tensors)

def by_hand(folder):
    """Two layers of two heads: 0.1 looks at the token before, 1.0 at what followed this token last time and says it.
    The stream has a dimension for each position, token, previous token and token to say."""
    V, T = 16, 20
    token, previous, said = T, T + V, T + 2 * V
    C = T + 3 * V
    D, one = C // 2, torch.eye(V)
    scale = lambda ones: 1 / math.sqrt(ones / C - (ones / C) ** 2 + 1e-5)
    p = {n: torch.zeros(C, width) for n, width in (("q0", C), ("k0", C), ("v0", C), ("o0", C), ("q1", C), ("k1", C), ("v1", C), ("o1", C))}
    for t in range(T):
        p["q0"][t, D + max(0, t - 1)], p["k0"][t, D + t] = 1e4, 1
    p["v0"][token:token + V, D:D + V], p["o0"][D:D + V, previous:previous + V] = one, one / scale(2)
    p["q1"][token:token + V, :V], p["k1"][previous:previous + V, :V] = 1e4 * one, one
    p["v1"][token:token + V, :V], p["o1"][:V, said:said + V] = one, one / scale(3)
    tensors = {"wte.weight": torch.zeros(V, C), "wpe.weight": torch.eye(T, C), "lm_head.weight": torch.zeros(V, C)}
    tensors["wte.weight"][:, token:token + V], tensors["lm_head.weight"][:, said:] = one, 40 * one
    ln = lambda n: {n + ".weight": torch.ones(C), n + ".bias": torch.zeros(C)}
    for l in range(2):
        h, b = f"h.{l}.", torch.zeros(C)
        if l == 0:
            b[previous:previous + V] = 2 / C  # what centring takes from every dimension
        tensors.update({**ln(h + "ln_1"), h + "attn.c_attn.weight": torch.cat([p[f"{n}{l}"] for n in "qkv"], 1),
                        h + "attn.c_attn.bias": torch.zeros(3 * C), h + "attn.c_proj.weight": p[f"o{l}"], h + "attn.c_proj.bias": b,
                        **ln(h + "ln_2"), h + "mlp.c_fc.weight": torch.zeros(C, 1), h + "mlp.c_fc.bias": torch.zeros(1),
                        h + "mlp.c_proj.weight": torch.zeros(1, C), h + "mlp.c_proj.bias": torch.zeros(C)})
    os.makedirs(folder, exist_ok=True)
    json.dump({"model_type": "gpt2", "n_layer": 2, "n_head": 2, "n_embd": C, "n_inner": 1, "n_positions": T, "vocab_size": V,
               "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "tie_word_embeddings": False},
              open(os.path.join(folder, "config.json"), "w"), indent=1)
    save(os.path.join(folder, "model.safetensors"), {n: t.half() for n, t in {**tensors, **ln("ln_f")}.items()})

def run(layout, folder, tokens):
    """Runs the lines of Python of `headlab export --help`, in which the packages are those forward passes."""
    import types
    def module(name, **members):
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(members)
    class Model:
        def __init__(self, config, tensors=None):
            self.config, self.tensors = config, tensors
        @classmethod
        def from_pretrained(cls, path):
            return cls(json.load(open(path + "/config.json")), load_file(path + "/model.safetensors"))
        def load_state_dict(self, tensors):
            self.tensors = tensors
        def load_and_process_state_dict(self, tensors, center_unembed):
            self.tensors = tensors
        def __call__(self, tokens, targets=None):
            logits = globals()[layout.replace("-", "_")](stripped(self.tensors), self.config, tokens)
            return types.SimpleNamespace(logits=logits) if layout.startswith("hugging") else (logits, None) if targets is not None else logits
    settings = lambda **all: all
    module("safetensors"), module("safetensors.torch", load_file=load_file)
    module("transformers", GPT2LMHeadModel=Model, AutoModelForCausalLM=Model)
    module("transformer_lens", HookedTransformer=Model, HookedTransformerConfig=settings)
    module("model", GPT=Model, GPTConfig=settings)
    names = {"tokens": torch.tensor(json.load(open(tokens)))}
    exec(sys.stdin.read().replace("OUT", folder), names)
    print(json.dumps(names["logits"].tolist()))

if __name__ == "__main__":
    run(*sys.argv[2:]) if sys.argv[1] == "--run" else main(sys.argv[1])

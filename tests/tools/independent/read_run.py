# Reads a run folder and says how far headlab's numbers are from their definitions.
#
# Written from the definitions (src/README.md, the comments of the headers, the papers), in double,
# with NumPy alone and without a line of headlab's C++: the model, its gradient, cross-entropy, the
# scores of heads and their p, ablation, pairs, hidden edges, areas of edge scores, rollout,
# attribution, circuits, patching of nodes and paths with its estimates, explained steps, a
# curve, the statistics of sweeps, and twenty steps of the optimizer. The examples themselves, which
# follow from streams of random numbers, come from independent_reading.
#
#     read_run.py RUN FOLDER [--change]    FOLDER holds given.safetensors and said.json of
#                                          independent_reading
#
# Prints a line for each quantity: the largest difference, and what is allowed. Exit status 1 if one
# is larger, or if said.json has a number that nothing was compared with and that NOT_COMPARED does
# not name. With --change, a number of each kind in said.json is changed in turn, and the last row of
# each table is taken out, or all of its rows; the exit status is 1 as well if one such change is not
# noticed. Read next: export.cc, run.sh.
import copy
import functools
import itertools
import json
import math
import re
import struct
import sys
from collections import Counter

import numpy as np

EPS = 1e-5  # of norms


# ---- files ---------------------------------------------------------------------------------------

def read_safetensors(path):
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header, data = json.loads(file.read(size)), file.read()
    types = {"F32": "<f4", "F64": "<f8", "I64": "<i8", "I32": "<i4", "U8": "u1", "BOOL": "?"}
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            flat = np.frombuffer(data[begin:end], types[entry["dtype"]])
            tensors[name] = flat.reshape(entry["shape"])
    return tensors


class Batch:
    def __init__(self, given, name):
        self.size, self.length, self.K, self.source_length = given[name + ".sizes"]
        shape = (self.size, self.length)
        self.tokens = given[name + ".tokens"].reshape(shape)
        self.targets = given[name + ".targets"].reshape(*shape, self.K)
        self.source = given[name + ".source"].reshape(self.size, self.source_length)
        self.lengths = given[name + ".lengths"]
        self.source_lengths = given[name + ".source_lengths"]


# ---- reverse-mode differentiation ----------------------------------------------------------------

class V:
    """A value with the functions that take its gradient back to what it was made of."""

    def __init__(self, value, parents=()):
        self.value, self.parents, self.grad = value, parents, None

    def __add__(self, other):
        return V(self.value + other.value, [(self, lambda g: fit(g, self)),
                                            (other, lambda g: fit(g, other))])

    def __mul__(self, number):
        return V(self.value * number, [(self, lambda g: g * number)])

    def __matmul__(self, other):
        def back_left(g):
            return fit(g @ np.swapaxes(other.value, -1, -2), self)

        def back_right(g):
            return fit(np.swapaxes(self.value, -1, -2) @ g, other)
        return V(self.value @ other.value, [(self, back_left), (other, back_right)])

    def reshape(self, *shape):
        return V(self.value.reshape(shape), [(self, lambda g: g.reshape(self.value.shape))])

    def transpose(self, *axes):
        return V(self.value.transpose(axes), [(self, lambda g: g.transpose(np.argsort(axes)))])

    def take(self, index):
        """Rows of axis 0, or what any other index selects."""
        def back(g):
            whole = np.zeros_like(self.value)
            np.add.at(whole, index, g)
            return whole
        return V(self.value[index], [(self, back)])

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if id(node) not in seen:
                seen.add(id(node))
                for parent, _ in node.parents:
                    visit(parent)
                order.append(node)
        visit(self)
        self.grad = np.ones_like(self.value)
        for node in reversed(order):
            for parent, back in node.parents:
                g = back(node.grad)
                parent.grad = g if parent.grad is None else parent.grad + g


def fit(g, like):
    """A gradient summed over the axes along which the value was repeated."""
    while g.ndim > like.value.ndim:
        g = g.sum(0)
    for axis, size in enumerate(like.value.shape):
        if size == 1 and g.shape[axis] > 1:
            g = g.sum(axis, keepdims=True)
    return g


def softmax(x):
    e = np.exp(x.value - x.value.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    return V(p, [(x, lambda g: p * (g - (g * p).sum(-1, keepdims=True)))])


def product(x, y):
    return V(x.value * y.value, [(x, lambda g: g * y.value), (y, lambda g: g * x.value)])


def centred(values, centres):
    return values - values.mean(-1, keepdims=True) if centres else values


def deviation_of(x, centres):
    return np.sqrt((centred(x, centres) ** 2).mean(-1, keepdims=True) + EPS)


def norm(x, w, b, centres, deviation):
    """A layer norm, or without the mean the norm of Zhang and Sennrich 2019; b may be None. Gradients
    are right for a deviation that is its own, deviation_of(x), and not for one of another pass."""
    normed = centred(x.value, centres) / deviation

    def back(g):
        g = g * w.value
        return (centred(g, centres) - normed * (g * normed).mean(-1, keepdims=True)) / deviation
    y = V(normed * w.value, [(x, back), (w, lambda g: fit(g * normed, w))])
    return y if b is None else y + b


def turned(x, base):
    """Pair (2i, 2i + 1) of [B, H, T, D] turned by t base^(-2i/D) (Su et al. 2021)."""
    T, D = x.value.shape[-2:]
    angle = np.arange(T)[:, None] * float(base) ** (-np.arange(0, D, 2) / D)

    def turn(values, sign):
        even, odd = values[..., 0::2], values[..., 1::2]
        c, s = np.cos(angle), sign * np.sin(angle)
        return np.stack((even * c - odd * s, even * s + odd * c), -1).reshape(values.shape)
    return V(turn(x.value, 1), [(x, lambda g: turn(g, -1))])


def activation(x, kind):
    if kind == "relu":
        return V(np.maximum(x.value, 0), [(x, lambda g: g * (x.value > 0))])
    if kind == "swiglu":
        p = 1 / (1 + np.exp(-x.value))
        return V(x.value * p, [(x, lambda g: g * p * (1 + x.value * (1 - p)))])
    c = math.sqrt(2 / math.pi)
    t = np.tanh(c * (x.value + 0.044715 * x.value ** 3))
    slope = (1 + t) / 2 + x.value / 2 * (1 - t ** 2) * c * (1 + 3 * 0.044715 * x.value ** 2)
    return V(x.value / 2 * (1 + t), [(x, lambda g: g * slope)])


def cross_entropy(logits, targets):
    """The sum over targets that are not -1 of -ln p; logits [B, T, K, V]; the losses beside it."""
    x = logits.value
    log_p = x - x.max(-1, keepdims=True)
    log_p = log_p - np.log(np.exp(log_p).sum(-1, keepdims=True))
    asked = targets >= 0
    chosen = np.take_along_axis(log_p, np.maximum(targets, 0)[..., None], -1)[..., 0]
    losses = np.where(asked, -chosen, 0)

    def back(g):
        grad = np.exp(log_p)
        hot = np.take_along_axis(grad, np.maximum(targets, 0)[..., None], -1) - 1
        np.put_along_axis(grad, np.maximum(targets, 0)[..., None], hot, -1)
        return g * grad * asked[..., None]
    return V(losses.sum(), [(logits, back)]), losses


# ---- the model -----------------------------------------------------------------------------------

class Model:
    def __init__(self, config, tensors):
        self.c = config
        self.p = {name: V(t.astype(np.float64)) for name, t in tensors.items()}
        self.encoder_decoder = config["architecture"] == "encoder-decoder" or \
            config["architecture"] == "encoder_decoder"
        self.modules = []  # (name, kind, layer); kinds: 0 self, 1 encoder, 2 cross
        if self.encoder_decoder:
            self.modules += [(f"encoder.blocks.{i}.attn", 1, i)
                             for i in range(config["encoder_layers"])]
        for i in range(config["layers"]):
            stack = "decoder." if self.encoder_decoder else ""
            layer = (config["encoder_layers"] if self.encoder_decoder else 0) + i
            self.modules.append((f"{stack}blocks.{i}.attn", 0, layer))
            if self.encoder_decoder:
                self.modules.append((f"{stack}blocks.{i}.cross_attn", 2, layer))
        self.heads = [(m, h) for m, (name, _, layer) in enumerate(self.modules)
                      for h in self.left(name, layer)]
        # Tensors recorded in a pass, and interventions: see logits.
        self.patterns, self.deviations, self.written = [], [], {}
        self.ablated, self.given, self.hidden = frozenset(), None, {}
        self.sublayers = {}  # by name: what each sublayer wrote, [B, T, C]
        self.z, self.put = {}, {}  # by module: what its heads put out; and what is put in its place
        self.qkv = {}  # by module: [B, H, T, width] each
        # Values of the last pass, which backward() gives gradients: of heads by ("z", module), of
        # networks by name, of streams by ("stream", index); and values put in the place of the last two.
        self.nodes, self.put_networks, self.put_streams = {}, {}, {}

    def norm(self, x, name):
        if self.c["norm"] == "none":
            self.deviations.append(np.ones(x.value.shape[:-1] + (1,)))
            return x
        centres = self.c["norm"] == "layer"
        own = deviation_of(x.value, centres)
        self.deviations.append(self.given[len(self.deviations)] if self.given else own)
        return norm(x, self.p[name + ".w"], self.p.get(name + ".b"), centres, self.deviations[-1])

    def by_layer(self, name, layer):
        values = self.c[name]
        values = values if isinstance(values, list) else [values]
        return values[0] if len(values) == 1 else values[layer]

    def original_heads(self, layer):
        return self.by_layer("heads", layer)

    def window(self, m):
        """How many of the nearest keys module m sees."""
        _, kind, layer = self.modules[m]
        return (self.by_layer("window", layer) if kind != 2 else 0) or math.inf

    def linear(self, x, prefix, label):
        b = self.p.get(prefix + "b" + label)
        y = x @ self.p[prefix + "W" + label]
        return y if b is None else y + b

    def left(self, name, layer):
        kept = self.c["attention"].get(name)
        return list(range(self.original_heads(layer))) if kept is None else kept["heads"]

    def attention(self, m, x, memory, mask, ablated):
        name, kind, layer = self.modules[m]
        numbers = self.left(name, layer)
        if not numbers:
            self.patterns.append(None)
            out = self.p.get(name + ".b_O")
            return V(np.zeros(x.value.shape)) + (out or V(np.zeros(1)))
        per_block = self.original_heads(layer) // (self.c["kv_heads"] or self.original_heads(layer))
        blocks = sorted({h // per_block for h in numbers})
        H, G = len(numbers), len(blocks)
        q, k, v = (self.linear(of, name + ".", label)
                   for of, label in ((x, "_Q"), (memory, "_K"), (memory, "_V")))
        D, Dv = q.value.shape[-1] // H, v.value.shape[-1] // G
        of = np.array([blocks.index(h // per_block) for h in numbers])

        def heads(t, count, width):  # [B, count, T, width]
            B, T, _ = t.value.shape
            return t.reshape(B, T, count, width).transpose(0, 2, 1, 3)
        q = heads(q, H, D)
        k = heads(k, G, D).transpose(1, 0, 2, 3).take(of).transpose(1, 0, 2, 3)
        v = heads(v, G, Dv).transpose(1, 0, 2, 3).take(of).transpose(1, 0, 2, 3)
        if kind != 2:
            back = abs(np.arange(x.value.shape[1])[:, None] - np.arange(x.value.shape[1]))
            mask = mask + np.where(back < self.window(m), 0, -np.inf)
            if self.c["positions"] == "rotary":
                q, k = turned(q, self.c["rotary_base"]), turned(k, self.c["rotary_base"])
        self.qkv[m] = [t.value for t in (q, k, v)]
        self.nodes["q", m], self.nodes["k", m], self.nodes["v", m] = q, k, v
        scores = (q @ k.transpose(0, 1, 3, 2)) * (1 / math.sqrt(D)) + V(mask)
        pattern = softmax(scores)
        if m in self.hidden:  # the rest is renormalised
            left = np.where(self.hidden[m], 0, pattern.value)
            pattern = V(left / np.maximum(left.sum(-1, keepdims=True), 1e-300))
        self.patterns.append(pattern.value)
        self.nodes["pattern", m] = pattern
        z = pattern @ v
        gate = np.array([0.0 if (m, h) in ablated else 1.0 for h in numbers])
        z = V(z.value * gate[None, :, None, None], [(z, lambda g: g * gate[None, :, None, None])])
        self.z[m], self.nodes["z", m] = z.value, z
        for i, other in self.put.get(m, {}).items():
            z = V(np.where(np.arange(H)[:, None, None] == i, other, z.value))
        B, _, T, _ = z.value.shape
        W_O = self.p[name + ".W_O"].value
        for i, h in enumerate(numbers):
            self.written[f"{m}.{h}"] = z.value[:, i] @ W_O[i * Dv:(i + 1) * Dv]
        if name + ".b_O" in self.p:
            self.written[name + ".b_O"] = self.p[name + ".b_O"].value
        y = self.linear(z.transpose(0, 2, 1, 3).reshape(B, T, H * Dv), name + ".", "_O")
        self.sublayers[name] = y.value
        return y

    def network(self, x, prefix):
        kind, inner = self.c["activation"], self.linear(x, prefix, "_in")
        if kind in ("swiglu", "geglu"):
            inner = product(inner, activation(self.linear(x, prefix, "_gate"), kind))
        else:
            inner = activation(inner, kind)
        y = self.linear(inner, prefix, "_out")
        if prefix[:-1] in self.put_networks:
            y = V(self.put_networks[prefix[:-1]])
        self.nodes[prefix[:-1]] = y
        self.written[prefix[:-1]] = self.sublayers[prefix[:-1]] = y.value
        return y

    def stack(self, prefix, x, modules, mask, cross=None):
        place = self.c["norm_place"]
        pre = place != "post"

        def sublayer(x, name, f):
            return x + f(self.norm(x, name)) if pre else self.norm(x + f(x), name)
        first = self.c["encoder_layers"] + 1 if prefix == "decoder." else 0
        for i, m in modules:
            x = self.stream(x, first + i)
            block = f"{prefix}blocks.{i}."
            if place == "parallel":  # attention and network read the same norm
                h = self.norm(x, block + "ln1")
                x = x + self.attention(m, h, h, mask, self.ablated)
                if self.c["d_ff"]:
                    x = x + self.network(h, block + "mlp.")
                continue
            x = sublayer(x, block + "ln1", lambda h: self.attention(m, h, h, mask, self.ablated))
            if cross is not None:
                memory, source_mask = cross
                x = sublayer(x, block + "ln_cross", lambda h: self.attention(
                    m + 1, h, memory, source_mask, self.ablated))
            if self.c["d_ff"]:
                x = sublayer(x, block + "ln2", lambda h: self.network(h, block + "mlp."))
        x = self.stream(x, first + len(modules))
        return self.norm(x, prefix + "ln_final") if pre else x

    def stream(self, x, index):
        """The stream before a block, or after the last, with what is put in its place."""
        if index in self.put_streams:
            x = V(self.put_streams[index])
        self.nodes["stream", index] = x
        return x

    def embed(self, prefix, tokens):
        x = self.p["embed.W_E"].take(tokens)
        T, C = tokens.shape[1], self.c["d_model"]
        self.written["embedding"] = x.value
        if self.c["positions"] == "learned":
            x = x + self.p[prefix + "pos_embed.W_pos"].take(np.arange(T))
        elif self.c["positions"] == "sinusoidal":
            c = np.arange(C)
            angle = np.arange(T)[:, None] * 10000.0 ** (-(c // 2 * 2) / C)
            x = x + V(np.where(c % 2 == 0, np.sin(angle), np.cos(angle)))
        self.written["positions"] = x.value - self.written["embedding"]
        return x

    def logits(self, batch, ablated=frozenset(), given=None, hidden={}):
        """[B, T, K, V]. self.patterns then holds those of each module, [B, H, T, S]; `deviations`
        by what norms divided, which may be `given` by another pass; `written` what each part added
        to the stream. hidden: edges without weight, [B, H, T, S] by module."""
        self.patterns, self.deviations, self.written = [], [], {}
        self.ablated, self.given, self.hidden = ablated, given, hidden
        n = self.c["encoder_layers"] if self.encoder_decoder else 0

        def padding(lengths, keys):  # [B, 1, 1, keys]
            return np.where(np.arange(keys) < lengths[:, None], 0, -np.inf)[:, None, None, :]
        mask = padding(batch.lengths, batch.length)
        if self.c["architecture"] != "encoder":
            t = np.arange(batch.length)
            mask = mask + np.where(t[None, :] <= t[:, None], 0, -np.inf)
        cross, prefix = None, ""
        if self.encoder_decoder:
            source_mask = padding(batch.source_lengths, batch.source_length)
            memory = self.stack("encoder.", self.embed("encoder.", batch.source),
                                [(i, i) for i in range(n)], source_mask)
            cross, prefix = (memory, source_mask), "decoder."
        step = 2 if self.encoder_decoder else 1
        modules = [(i, n + step * i) for i in range(self.c["layers"])]
        x = self.stack(prefix, self.embed(prefix, batch.tokens), modules, mask, cross)
        if self.c["tied"]:
            y = x @ self.p["embed.W_E"].transpose(1, 0)
        else:
            y = self.linear(x, "unembed.", "_U")
        return y.reshape(batch.size, batch.length, batch.K, self.c.get("answers") or self.c["vocab"])

    @functools.cache
    def judged(self, batch, ablated):
        """Losses by example, summed over targets; the share of targets that are right."""
        logits = self.logits(batch, ablated)
        right = (logits.value.argmax(-1) == batch.targets).sum()
        return sums_of(logits, batch.targets), right / (batch.targets >= 0).sum()

    def losses(self, batch, ablated=()):
        return self.judged(batch, frozenset(ablated))[0]

    def accuracy(self, batch, ablated=()):
        return self.judged(batch, frozenset(ablated))[1]

    def mean_loss(self, batch, ablated=()):
        return self.losses(batch, ablated).sum() / (batch.targets >= 0).sum()


def sums_of(logits, targets):
    """Losses by example, summed over its targets."""
    return cross_entropy(logits, targets)[1].sum((1, 2))


# ---- scores of heads -----------------------------------------------------------------------------

class Judge:
    """Mass, baseline, lift, top-1 and entropy of heads; A: even examples, B: odd ones."""

    def __init__(self, model, batch, relations, truth):
        self.model, self.batch, self.relations = model, batch, relations
        self.truth = []  # by relation: {(b, t): set of keys}
        for edges in truth:
            by_query = {}
            for b, t, key in edges:
                by_query.setdefault((b, t), set()).add(int(key))
            self.truth.append(by_query)

    def keys_of(self, kind, b):
        return (self.batch.lengths if kind == 0 else self.batch.source_lengths)[b]

    def queries_of(self, kind, b):
        return (self.batch.source_lengths if kind == 1 else self.batch.lengths)[b]

    def visible(self, kind, b, t):
        causal = kind == 0 and self.model.c["architecture"] != "encoder"
        return min(self.keys_of(kind, b), t + 1) if causal else self.keys_of(kind, b)

    def disjoint(self, r):
        kind, queries = self.relations[r]["kind"], []
        for (b, t), keys in sorted(self.truth[r].items()):
            alone = all(o == r or self.relations[o]["kind"] != kind or
                        not keys & self.truth[o].get((b, t), set())
                        for o in range(len(self.truth)))
            if alone and self.visible(kind, b, t) > 0:
                queries.append((b, t, sorted(keys), self.visible(kind, b, t)))
        return queries

    def score(self, r, pattern, window):
        """pattern [B, T, S] of one head, which sees no key that is `window` back or more."""
        kind, queries = self.relations[r]["kind"], self.disjoint(r)
        A, B = ([q for q in queries if q[0] % 2 == half] for half in (0, 1))
        if not B:
            return None
        mass = np.mean([pattern[b, t, keys].sum() for b, t, keys, _ in B])
        top1 = np.mean([pattern[b, t, :n].argmax() in keys for b, t, keys, n in B])
        baseline = np.mean([sum(t - key < window for key in keys) / min(n, window)
                        for _, t, keys, n in B])
        if not self.relations[r]["positional"]:
            hits = {}
            for b, t, keys, _ in queries:
                for key in keys:
                    hits[key - t] = hits.get(key - t, 0) + (b % 2 == 0)
            best = min(hits, key=lambda offset: (-hits[offset], abs(offset), offset))
            best = best if hits[best] > 0 else 0
            baseline = max(baseline, np.mean([t + best in keys for _, t, keys, _ in B]))
            total, rows = np.zeros(pattern.shape[1:]), np.zeros(pattern.shape[1])
            for b in range(0, self.batch.size, 2):
                n = self.queries_of(kind, b)
                total[:n] += pattern[b, :n]
                rows[:n] += 1
            average = total / np.maximum(rows, 1)[:, None]
            baseline = max(baseline, np.mean([average[t, keys].sum() for _, t, keys, _ in B]))
        every = [pattern[b, t, sorted(keys)].sum() for (b, t), keys in self.truth[r].items()
                 if b % 2 and self.visible(kind, b, t) > 0]
        return {"mass": mass, "top1": top1, "baseline": baseline, "queries": len(B),
                "examples": len({b for b, _, _, _ in B}), "mass_all": np.mean(every),
                "first_half": np.mean([pattern[b, t, keys].sum() for b, t, keys, _ in A] or [0]),
                "by_query": np.array([pattern[b, t, keys].sum() for b, t, keys, _ in B]),
                "pattern": pattern,
                "lift": (mass - baseline) / (1 - baseline) if baseline < 1 else None}

    def permuted_masses(self, r, patterns, draws, random):
        """The largest mass of any head on ground truth that was drawn anew, [draws]: keys among those that
        are visible if the relation is one of positions, else the truth of other examples at the
        same place, of which one permutation serves all places."""
        B = [q for q in self.disjoint(r) if q[0] % 2]
        at = {(b, t, n): keys for b, t, keys, n in B}
        largest = []
        for _ in range(draws):
            after, edges = random.permutation(self.batch.size), []
            for b, t, keys, n in B:
                if self.relations[r]["positional"]:
                    drawn = [random.integers(n)] if len(keys) == 1 else \
                        random.choice(n, len(keys), replace=False)
                else:
                    other = after[b]
                    while (other, t, n) not in at:
                        other = after[other]
                    drawn = at[other, t, n]
                edges += [(b, t, key) for key in drawn]
            b, t, key = np.array(edges).T
            largest.append(max(pattern[b, t, key].sum() for pattern in patterns) / len(B))
        return np.array(largest)

    def rows(self, kind, first=1, step=2):
        """(b, t, number of visible keys) of split B, or of the sequences from `first` by `step`."""
        return [(b, t, self.visible(kind, b, t)) for b in range(first, self.batch.size, step)
                for t in range(self.queries_of(kind, b))]

    def without_truth(self, kind, pattern, window):
        """`window`: of a decoder, in which a query sees no later key."""
        rows = self.rows(kind, 0, 1)  # of all sequences: nothing is chosen by them
        entropy = np.mean([-(w[w > 0] * np.log(w[w > 0])).sum()
                           for w in (pattern[b, t] for b, t, _ in rows)])
        keys = np.arange(pattern.shape[-1])
        most = np.mean([np.log(min(n, window)) for _, _, n in rows])
        return {"entropy": entropy, "focus": 1 - entropy / most,
                "confidence": np.mean([pattern[b, t].max() for b, t, _ in rows]),
                "distance": np.mean([pattern[b, t] @ abs(keys - t) for b, t, _ in rows])}


# ---- what is compared ----------------------------------------------------------------------------

worst, known = {}, {}


def remember(key, compute):
    """What is the same for every said.json."""
    if key not in known:
        known[key] = compute()
    return known[key]


# Entries of said.json in addition to numbers that a definition gives.
NOT_COMPARED = {
    r"\.(seconds|sets_per_s)$": "times",
    r"(^step_count|\.(draws|layer|head|seed|examples|permutations|kind|schema))$": "what was asked for",
    r"\.(digits|sequences_forward|sequences_backward|steps)$": "how numbers are written, and counts",
    r"\.exchanges$": "permutations, which are drawn",
    r"^pairs\..*\.(skew|tail)$": "of changes that rounding alone makes",
    r"^heads\.divisions": "hand-built heads that divide have tests of their own",
    r"^circuits\.compositions\[\]\.(random|percentile)$": "random matrices, which are drawn",
    r"^circuits\.(distance|attention)$": "what was asked for",
    r"\.(rank|map|offsets|patterns)\b": "sums over rows: tests/heads holds them against formulas",
    r"^curve\.subsets": "judged on more examples than are handed over",
    r"\.baselines\.": "no head is judged by them",
    r"^heads\.heads\[\]\.(rows|pattern_queries)|^edges\..*\.tests\[\]\.queries|^patching\..*\.pairs|\.counts\[\]$":
        "numbers of terms of a mean, which tests/cli/counts_test.cc holds",
    r"^curve\.(needed|heads)$|\.(told|positional)$": "what the task and the tables say",
}


NOT_COUNTED = {
    r"^relations$": "what the task says",
    r"\.(tables|columns)\b": "tests/report/golden/columns.txt lists them",
    r"^heads\.divisions": "hand-built heads that divide have tests of their own",
}


class Told:
    """A number of said.json that knows whether something was compared with it."""
    compared = False


class Whole(Told, int):
    pass


class Real(Told, float):
    pass


def mark(theirs):
    for number in theirs if isinstance(theirs, list) else []:
        mark(number)
    if isinstance(theirs, Told):
        theirs.compared = True


def not_compared(told, path=""):
    """Paths of the numbers that were not, with how many each stands for."""
    if isinstance(told, dict):
        return sum((not_compared(value, f"{path}.{name}" if path else name)
                    for name, value in told.items()), Counter())
    if isinstance(told, list):
        return sum((not_compared(value, path + "[]") for value in told), Counter())
    missed = isinstance(told, Told) and not told.compared
    return Counter([path] if missed and not any(re.search(p, path) for p in NOT_COMPARED) else [])


def compare(what, ours, theirs, allowed):
    mark(theirs)
    if theirs is None and (ours is None or not np.isfinite(ours)):
        return
    if theirs is None:
        theirs = math.nan
    difference = float(np.max(np.abs(np.asarray(ours, float) - np.asarray(theirs, float))))
    found = (difference, allowed)
    if what not in worst or excess(*found) > excess(*worst[what]):
        worst[what] = found


def excess(difference, allowed):
    """The difference in units of what is allowed: above 1 is a fault. Not a number is the largest fault."""
    if math.isnan(difference):
        return math.inf
    if allowed == 0:
        return 0.0 if difference == 0 else math.inf
    return difference / allowed


def truth_of(task, batch):
    """The truth of three tasks, from the tokens by what the tasks say: {(b, t, key)} by relation."""
    name, _, settings = task.partition(":")
    settings = dict(pair.split("=") for pair in settings.split(",") if pair)
    rows = [batch.tokens[b, :batch.lengths[b]].tolist() for b in range(batch.size)]
    if name == "relations":
        def key(relation, row, t):
            if relation != "same":
                return t - int(relation)
            alike = [s for s in range(t) if (row[s] - row[t]) % int(settings["classes"]) == 0]
            return alike[-1] if alike else -1
        return [{(b, t, key(relation, row, t)) for b, row in enumerate(rows)
                 for t in range(len(row)) if key(relation, row, t) >= 0}
                for relation in settings["relations"].split("+")]
    if name == "induction":
        # Targets are where a segment is repeated; the segment is what precedes the answers.
        induction, previous = set(), set()
        for b, row in enumerate(rows):
            asked = [t for t in range(len(row)) if batch.targets[b, t, 0] >= 0]
            first = row.index(row[asked[0]])
            for j, t in enumerate(asked):
                induction.add((b, t, first + j + 1))
                previous.add((b, first + j + 1, first + j))
        return [induction, previous]
    if name == "reverse_cross":
        # Position t writes the symbol that is t from the end of the source.
        return [{(b, t, int(batch.source_lengths[b]) - 1 - t) for b in range(batch.size)
                 for t in range(batch.length) if batch.targets[b, t, 0] >= 0}]
    return None


def compare_truth(task, batch, given):
    for r, ours in enumerate(truth_of(task, batch) or []):
        theirs = {tuple(map(int, edge)) for edge in given[f"truth{r}"].reshape(-1, 3)}
        compare("truth of the task", len(ours ^ theirs), 0, 0)


def jensen_shannon(p, q):
    middle = (p + q) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        halves = [np.where(x > 0, x * np.log(x / middle), 0).sum(-1) / 2 for x in (p, q)]
    return np.sqrt(np.maximum(0, halves[0] + halves[1]))


def holm(smallest):
    """What each relation's p is multiplied by: the number of those that are left in their order."""
    order = np.argsort(smallest, kind="stable")
    return {r: len(order) - place for place, r in enumerate(order)}


def student_tail(t, freedom):
    """Both tails of Student's t by Simpson's rule: P(|T| > t)."""
    x = np.linspace(0, math.atan(abs(t) / math.sqrt(freedom)), 20001)
    y = np.cos(x) ** (freedom - 1)
    area = (y[0] + y[-1] + 4 * y[1:-1:2].sum() + 2 * y[2:-1:2].sum()) * (x[1] - x[0]) / 3
    whole = math.sqrt(math.pi) * math.exp(math.lgamma(freedom / 2) - math.lgamma((freedom + 1) / 2))
    return max(0.0, 1 - area / (whole / 2))


def tail_of(sizes, carried):
    """Hill's estimate of 1/alpha over the largest sizes; what is smaller than rounding is alike."""
    if len(sizes) < 512:
        return 0
    largest = max(1, int(min(math.sqrt(len(sizes)), carried / 4)))
    logs = np.log(np.maximum(np.sort(sizes)[::-1], 64 * np.finfo(np.float32).eps))
    return (logs[:largest] - logs[largest]).mean()


def compare_change(what, d, targets, theirs, allowed=1e-5):
    """A change by example, d, as a mean per target, with Hall's interval and p."""
    n, count = len(d), targets.sum()
    change = d.sum() / count
    e = d - change * targets
    compare(what, change, theirs["change"], allowed)
    compare("examples", (targets > 0).sum(), theirs["examples"], 0)
    if np.abs(d).max() < 1e-3:  # what rounding does: nothing is known of its spread
        mark([theirs[name] for name in ("low", "high", "p", "carried", "skew", "tail")])
        known = theirs["carried"] <= n and 1e-6 <= (theirs["p"] or 1) <= 1
        compare("of rounding alone", not known, 0, 0)
        for end in ("low", "high"):
            compare("its interval", theirs[end] or change, change, 1e-3)
        return
    carried = np.abs(d).sum() ** 2 / (d ** 2).sum()
    compare("carried", carried, theirs["carried"], 3e-3 * n)
    skew = (e ** 3).sum() / (e ** 2).sum() ** 1.5 if e.any() else 0
    compare("skew", skew, theirs["skew"], 3e-3)
    tail = tail_of(np.abs(e), carried)
    compare("tail", tail, theirs["tail"], 3e-3)
    if min(carried, (targets > 0).sum()) < 30 or abs(skew) > 0.2 or tail > 0.4:
        for name in ("low", "high", "p"):
            compare("intervals of few examples or large skew", theirs[name] is not None, 0, 0)
        return
    # The more skewed the sample, the more its deviation understates that of the population.
    error = math.sqrt(n / (n - 1) * (e ** 2).sum()) / count * (1 + abs(skew))
    for end, normal in (("low", 1.959963984540054), ("high", -1.959963984540054)):
        # The t at which Hall's transform t + skew t^2/3 + skew^2 t^3/27 + skew/6 is `normal`.
        roots = np.roots([skew ** 2 / 27, skew / 3, 1, skew / 6 - normal])
        t = roots[np.abs(roots.imag).argmin()].real
        compare("its interval", change - t * error, theirs[end], allowed)
    t = change / error if error else math.copysign(math.inf, change)
    normal = t + skew * t ** 2 / 3 + skew ** 2 * t ** 3 / 27 + skew / 6 if error else t
    compare("its p", max(1e-6, math.erfc(abs(normal) / math.sqrt(2))), theirs["p"], 1e-2)


def compare_heads(model, batch, given, said):
    logits, patterns = remember("scored", lambda: (model.logits(batch).value, model.patterns))
    model.patterns = patterns
    real = np.arange(batch.length) < batch.lengths[:, None]
    compare("logits", logits[real], given["logits"].reshape(logits.shape)[real], 1e-3)
    compare("examples", batch.size, said["heads"]["examples"], 0)
    truth = [given[f"truth{r}"].reshape(-1, 3) for r in range(len(said["relations"]))]
    judge = Judge(model, batch, said["relations"], truth)
    for m, pattern in enumerate(model.patterns):
        if pattern is None:
            continue
        kind = model.modules[m][1]
        theirs = given[f"pattern{m}"].reshape(pattern.shape)
        for b in range(batch.size):
            n = judge.queries_of(kind, b)
            compare("patterns", pattern[b, :, :n], theirs[b, :, :n], 1e-4)
    place = {}
    for m, h in model.heads:
        place[m, h] = len([1 for other in place if other[0] == m])
    heads, relations = said["heads"]["heads"], said["heads"]["relations"]
    found = {}
    for i, head in enumerate(heads):
        m, h = head["layer"], head["head"]
        pattern, kind = model.patterns[m][:, place[m, h]], model.modules[m][1]
        shape = remember(("shape", i), lambda: judge.without_truth(kind, pattern, model.window(m)))
        for name, value in shape.items():
            compare(name, value, head[name], 1e-5 * max(1, abs(value)))
        for r, relation in enumerate(said["relations"]):
            if relation["kind"] != kind:  # nothing is asked of it
                for name in ("mass", "baseline", "lift", "mass_all", "top1", "queries", "examples"):
                    if head["scores"][relation["name"]][name] is not None:
                        compare("of another kind", 0, head["scores"][relation["name"]][name], 0)
                continue
            score = remember(("score", r, i), lambda: judge.score(r, pattern, model.window(m)))
            theirs = head["scores"][relation["name"]]
            if score is not None:
                found[r, i] = score
                for name, allowed in (("mass", 1e-5), ("baseline", 1e-5), ("lift", 1e-4),
                                      ("mass_all", 1e-5), ("top1", 1e-9), ("queries", 0),
                                      ("examples", 0)):
                    compare(name, score[name], theirs[name], allowed)
        compare_distances(model, judge, place, heads, i, said["heads"]["distances"])
    compare_permutations(judge, found, heads, relations, said["heads"]["permutations"])
    compare_winners(found, heads, relations)
    best = [relation["best"] for relation in said["heads"]["relations"] if relation["best"]]
    compare_floors([float(one["p_holm"]) for one in best if one["p_holm"] is not None],
                   said["heads"]["tables"])
    judged = [r for r in relations if r["best"] and r["best"]["examples"] >= 10
              and not r["untested"]]
    if judged:
        compare("specialization", np.mean([r["assigned_owns"] for r in judged]),
                said["heads"]["specialization"], 1e-9)


def compare_distances(model, judge, place, heads, i, theirs):
    """Mean over queries of the Jensen-Shannon distance of two heads' rows."""
    def pattern_of(head):
        return model.patterns[head["layer"]][:, place[head["layer"], head["head"]]]
    kind, near = model.modules[heads[i]["layer"]][1], []
    b, t, _ = np.array(judge.rows(kind)).T
    for j, other in enumerate(heads):
        if model.modules[other["layer"]][1] == kind:
            distance = remember(("distance", i, j), lambda: jensen_shannon(
                pattern_of(heads[i])[b, t], pattern_of(other)[b, t]).mean())
            compare("distances", distance, theirs[i][j], 1e-4)
            near += [(distance, other["layer"], other["head"])] * (i != j)
    if near:
        compare("nearest", min(near)[0], heads[i]["nearest_distance"], 1e-4)
        named = [d for d, *head in near if head == heads[i]["nearest"]]
        mark(heads[i]["nearest"])
        compare("nearest", named[0] if named else math.nan, heads[i]["nearest_distance"], 1e-4)


def p_of_lift(score, examples):
    """The one-sided p of a lift of at most 0.1, by Hall's transformation of a ratio of sums over examples."""
    examples, masses = np.array(examples), score["by_query"]
    rest = np.array([(masses[examples == b] - score["mass"]).sum() for b in np.unique(examples)])
    squares, n = (rest ** 2).sum(), len(rest)
    above = score["mass"] - score["baseline"] - 0.1 * (1 - score["baseline"])
    skew = (rest ** 3).sum() / squares ** 1.5 if squares > 0 else 0
    error = math.sqrt(squares * n / (n - 1)) / len(masses) * (1 + abs(skew))
    if error == 0:
        two_sided = 1 if above == 0 else 1e-6
    else:
        t = above / error
        normal = t * (1 + skew * t / 3 + (skew * t) ** 2 / 27) + skew / 6
        two_sided = max(1e-6, math.erfc(abs(normal) / math.sqrt(2)))
    return two_sided / 2 if above > 0 else 1 - two_sided / 2


def compare_permutations(judge, found, heads, relations, permutations):
    """p against permutations of our own: within what chance makes of two such counts."""
    draws = 199
    for r, relation in enumerate(relations):
        of = {i: score for (s, i), score in found.items() if s == r}
        if not of or of[min(of)]["examples"] < 10:
            continue
        largest = remember(("permutations", r), lambda: judge.permuted_masses(
            r, [score["pattern"] for score in of.values()], draws, np.random.default_rng(r)))
        for i, score in of.items():
            ours = (1 + (largest >= score["mass"] * (1 - 1e-12)).sum()) / (1 + draws)
            told = heads[i]["scores"][relation["name"]]
            theirs = told["p"]
            of_lift = p_of_lift(score, [b for b, *_ in judge.disjoint(r) if b % 2])
            compare("p of the lift", of_lift, told["p_lift"], 1e-3)
            ours = max(ours, of_lift)
            both = min(1, (ours * draws + theirs * permutations) / (draws + permutations))
            spread = math.sqrt(both * (1 - both) * (1 / draws + 1 / permutations))
            compare("p beyond chance", max(0, abs(ours - theirs) - 5 * spread - 0.01), 0, 0)
            mark(theirs)


def compare_floors(told, tables):
    """The smallest p that the draws allow, which a table shows as a bound, is one of its p."""
    for table in tables:
        for column in table["columns"]:
            for floor in column.get("floors", []):
                compare("floor of p", min(told, key=lambda p: abs(p - floor)), floor, 0)


def compare_winners(found, heads, relations):
    """Best heads, Holm's correction, owners: from the masses above, and from p as it was drawn."""
    names = [relation["name"] for relation in relations]
    p = {r: [heads[i]["scores"][names[r]]["p"] for s, i in found if s == r]
         for r in range(len(relations))}
    judged = [r for r in p if p[r] and None not in p[r]]
    factor = holm([min(p[r]) for r in judged])
    factor = {r: factor[k] for k, r in enumerate(judged)}
    for r, relation in enumerate(relations):
        of = {i: score for (s, i), score in found.items() if s == r}
        if not of:
            continue
        best = max(of, key=lambda i: (of[i]["first_half"], -i))
        told, his = relation["best"], heads[best]["scores"][names[r]]
        compare("best head", [heads[best]["layer"], heads[best]["head"]],
                [told["layer"], told["head"]], 0)
        for name in ("mass", "mass_all", "top1", "lift", "baseline", "queries", "examples", "p", "p_lift", "p_holm"):
            if told[name] is not None:
                compare("best head's " + name, his[name], told[name], 0)
        compare("mass of any head", np.max([score["by_query"] for score in of.values()], 0).mean(),
                relation["mass_any_head"], 1e-5)
        for i in of:
            his = heads[i]["scores"][names[r]]
            if r in judged and his["p"] is not None:
                compare("Holm", max(0, min(1, his["p"] * factor[r]) - his["p_holm"]), 0, 1e-9)
                mark(his["p_holm"])
                owns = his["p_holm"] < 0.01 and (his["lift"] or 0) >= 0.3
                compare("owns", owns, his["owns"], 0)
        if relation["assigned"] is not None:
            by_head = {(head["layer"], head["head"]): head["scores"] for head in heads}
            mark(relation["assigned"])
            compare("owner of its own", by_head[tuple(relation["assigned"])][names[r]]["owns"],
                    relation["assigned_owns"], 0)
        owner = relation["owner"]
        compare("owner", relation["best"]["owns"], owner is not None, 0)
        if owner is not None:
            compare("owner", [told["layer"], told["head"]], owner, 0)


def compare_ablation(model, batch, said):
    targets = (batch.targets >= 0).sum((1, 2))
    whole = model.losses(batch)
    compare("loss", whole.sum() / targets.sum(), said["ablation"]["loss"], 1e-5)
    compare("targets", targets.sum(), said["ablation"]["targets"], 0)
    compare("examples", batch.size, said["ablation"]["examples"], 0)
    compare("heads", [head for m in model.heads for head in m],
            [head[name] for head in said["ablation"]["heads"] for name in ("layer", "head")], 0)
    for head in said["ablation"]["heads"]:
        mark([head["layer"], head["head"]])
        without = model.losses(batch, {(head["layer"], head["head"])})
        compare_change("ablation", without - whole, targets, head)
        compare("loss", without.sum() / targets.sum(), head["loss"], 1e-5)


# ---- what heads write, and what depends on what --------------------------------------------------

def shares_of(model, batch):
    """What each part of the last pass adds to the logit of each target above the mean logit:
    {part: [B, T, K]}."""
    prefix = "decoder." if model.encoder_decoder else ""
    W = model.p["embed.W_E"].value.T if model.c["tied"] else model.p["unembed.W_U"].value
    gain = 1 if model.c["norm"] == "none" else model.p[prefix + "ln_final.w"].value
    centres = model.c["norm"] == "layer"

    def at_targets(y):
        y = np.broadcast_to(y, (batch.size, batch.length, y.shape[-1]))
        y = y.reshape(batch.size, batch.length, batch.K, -1)
        y = y - y.mean(-1, keepdims=True)
        asked = np.take_along_axis(y, np.maximum(batch.targets, 0)[..., None], -1)[..., 0]
        return np.where(batch.targets >= 0, asked, 0)
    shares = {name: at_targets(centred(x, centres) / model.deviations[-1] * gain @ W)
              for name, x in model.written.items() if not name.startswith("encoder.")}
    if prefix + "ln_final.b" in model.p:
        shares["ln_final.b"] = at_targets((model.p[prefix + "ln_final.b"].value @ W)[None])
    if "unembed.b_U" in model.p:
        shares["unembed.b_U"] = at_targets(model.p["unembed.b_U"].value[None])
    return shares


def interval_of_mean(d, targets):
    """Hall's interval of sum(d) / sum(targets) over examples (compare_change); None without one."""
    n, count = len(d), targets.sum()
    if count == 0:
        return None, None
    e = d - d.sum() / count * targets
    skew = (e ** 3).sum() / (e ** 2).sum() ** 1.5 if e.any() else 0
    error = math.sqrt(n / (n - 1) * (e ** 2).sum()) / count * (1 + abs(skew))
    ends = []
    for normal in (1.959963984540054, -1.959963984540054):
        roots = np.roots([skew ** 2 / 27, skew / 3, 1, skew / 6 - normal])
        ends.append(d.sum() / count - roots[np.abs(roots.imag).argmin()].real * error)
    return tuple(ends)


def lens_places(model, batch):
    """(name, logits [B, T, K, V]) after the embedding and each sublayer of the stack that answers."""
    answers = model.logits(batch).value
    prefix = "decoder." if model.encoder_decoder else ""
    post = model.c["norm_place"] == "post"
    W = model.p["embed.W_E"].value.T if model.c["tied"] else model.p["unembed.W_U"].value
    b = model.p["unembed.b_U"].value if "unembed.b_U" in model.p else 0
    centres = model.c["norm"] == "layer"

    def normed(x, name):
        if model.c["norm"] == "none":
            return x
        y = centred(x, centres) / deviation_of(x, centres) * model.p[name + ".w"].value
        return y + model.p[name + ".b"].value if name + ".b" in model.p else y

    def logits_of(x):
        y = (x if post else normed(x, prefix + "ln_final")) @ W + b
        return y.reshape(answers.shape)
    x = model.written["embedding"] + model.written["positions"]
    places = [("embedding", logits_of(x))]
    for i in range(model.c["layers"]):
        block = f"{prefix}blocks.{i}."
        parts = [("attn", "ln1")] + [("cross_attn", "ln_cross")] * model.encoder_decoder
        parts += [("mlp", "ln2")] * bool(model.c["d_ff"])
        for name, ln in parts:
            x = x + model.sublayers[block + name]
            x = normed(x, block + ln) if post else x
            places.append((block + name, logits_of(x)))
    return places


def compare_lens(model, batch, said):
    places = lens_places(model, batch)
    targets = batch.targets >= 0
    compare("examples", batch.size, said["examples"], 0)
    compare("lens: places", len(places), len(said["places"]), 0)
    cells = {(c["place"], c["position"], c["target"]): c for c in said["positions"]}
    totals = {(c["place"], c["target"]): c for c in said["by_target"]}
    names, before = sorted({key[1] for key in totals}), None
    names = list(dict.fromkeys(c["target"] for c in said["by_target"]))
    for (name, logits), theirs in zip(places, said["places"]):
        compare("lens: names", name != theirs["place"], 0, 0)
        chosen = np.take_along_axis(logits, np.maximum(batch.targets, 0)[..., None], -1)
        losses = cross_entropy(V(logits), batch.targets)[1]
        ranks, right = 1 + (logits > chosen).sum(-1), logits.argmax(-1) == batch.targets

        def means(where):
            return {"loss": losses[where].mean(), "accuracy": right[where].mean(),
                    "rank": ranks[where].mean()}

        def hold(where, cell):
            for what, value in means(where).items():
                near = 1e-5 if what == "loss" else 1e-9
                compare("lens: " + what, value, cell[what], near * max(1, value))
            if "count" in cell:
                compare("lens: count", where.sum(), cell["count"], 0)
        hold(targets, theirs)
        if before is not None:
            compare_change("lens: difference", losses.sum((1, 2)) - before, targets.sum((1, 2)),
                           theirs["difference"], 1e-5 * max(1, losses.max()))
        else:
            mark(list(theirs["difference"].values()))
        before = losses.sum((1, 2))
        for k, target in enumerate(names):
            at = np.zeros_like(targets)
            at[..., k] = targets[..., k]
            hold(at, totals[name, target])
            for t in range(batch.length):
                here = np.zeros_like(at)
                here[:, t] = at[:, t]
                if here.any():
                    mark(cells[name, t, target]["position"])
                    hold(here, cells[name, t, target])


def compare_attribution(model, batch, said):
    model.logits(batch)
    shares, counts = shares_of(model, batch), (batch.targets >= 0).sum((0, 1))
    means = {name: share.sum((0, 1)) / np.maximum(1, counts) for name, share in shares.items()}
    for part in said["parts"]:
        compare("attribution", means[part["name"]], part["shares"], 1e-4)
        for k in range(batch.K):
            counts_k = (batch.targets[..., k] >= 0).sum(1)
            low, high = interval_of_mean(shares[part["name"]][..., k].sum(1), counts_k)
            for end, theirs in ((low, part["low"][k]), (high, part["high"][k])):
                mark(theirs)
                if theirs is not None and end is not None:
                    compare("attribution's interval", end, theirs, 1e-5 * max(1, abs(end)))
    parts = [means[part["name"]] for part in said["parts"]]
    compare("attributed logits", np.sum(parts, 0), said["logits"], 1e-4)
    compare("examples", batch.size, said["examples"], 0)


def compare_explained(model, batch, said):
    """Each step of attention of the last head on the first example."""
    model.logits(batch)
    m, h = model.heads[-1]
    name, kind, layer = model.modules[m]
    i = model.left(name, layer).index(h)
    T, S = (int((batch.source_lengths if source else batch.lengths)[0])
            for source in (kind == 1, kind != 0))
    q, k, v = (t[0, i, :n] for t, n in zip(model.qkv[m], (T, S, S)))
    weights, scores = model.patterns[m][0, i, :T, :S], q @ k.T
    ours = {"q": q, "k": k, "v": v, "scores": scores, "scaled": scores / math.sqrt(q.shape[1]),
            "weights": weights, "output": weights @ v}
    for step, theirs in said.items():
        compare("explained steps", ours[step], theirs, 1e-4)


def with_targets_of(relation, truth, batch, names):
    """The batch with the targets at a relation's queries alone, or all if there is none."""
    own, queries = copy.copy(batch), np.zeros((batch.size, batch.length), bool)
    queries[truth[:, 0], truth[:, 1]] = True
    name = relation["name"]
    asked = queries[..., None] & np.array([name not in names or n == name for n in names])
    own.targets = np.where(asked, batch.targets, -1)
    return own if (own.targets >= 0).any() and relation["kind"] != 1 else batch


def compare_edges(model, batch, truth, said):
    """Masked ground-truth edges. The random edges are drawn again: their cost is compared roughly."""
    model.logits(batch)
    patterns, relations = model.patterns, said["relations"]
    lifts = {(h["layer"], h["head"]): h["scores"] for h in said["heads"]["heads"]}
    for r, row in enumerate(said["edges"]["relations"]):
        own = remember(("own", r), lambda: with_targets_of(relations[r], truth[r], batch,
                                                           said["target_names"]))
        targets = (own.targets >= 0).sum((1, 2))
        whole = model.losses(own)
        everywhere = [head for head in model.heads
                      if model.modules[head[0]][1] == relations[r]["kind"]]
        never, last = keys_of_others(r, relations, truth,
                                     own is not batch and row["name"] in said["target_names"])
        for test in row["tests"]:
            heads = [tuple(head) for head in test["heads"]]
            mark(test["heads"])
            compare("hidden targets", targets.sum(), test["targets"], 0)
            if (targets > 0).sum() < 30:
                continue
            costs = remember(("edges", r, tuple(heads)), lambda: costs_of_edges(
                model, own, patterns, truth[r], heads, everywhere, never, last))
            compare("hidden mass", costs["mass"], test["mass"], 1e-4)
            compare_change("hidden edges", costs["truth"] - whole, targets, test["truth"], 1e-4)
            if len(heads) == 1:
                compare("lift beside the edges", lifts[heads[0]][row["name"]]["lift"], test["lift"], 1e-9)
            in_all = row["tests"][-1]["truth"]["change"]
            if test["share"] is not None:
                compare("share", test["truth"]["change"] / in_all, test["share"], 1e-9)
            rough = 0.1 + 0.5 * abs(test["random"]["change"])
            compare("random edges, weight", costs["weight"], test["random_mass"],
                    0.1 + 0.1 * costs["mass"])
            compare("random edges, ratio", test["random_mass"] / test["mass"],
                    test["random_ratio"], 1e-9)
            randomised = (costs["random"] - whole).sum() / targets.sum()
            compare("random edges", max(0, abs(randomised - test["random"]["change"]) - rough), 0, 0)
            difference = test["truth"]["change"] - test["random"]["change"]
            compare("difference", difference, test["difference"]["change"], 1e-9)
            for name in ("random", "difference"):
                compare_rough_interval(test[name], (targets > 0).sum())


def compare_rough_interval(change, examples):
    """Of draws that are not known: the interval holds its mean, and not far from its middle, and p
    is below .05 if 0 is out."""
    compare("examples", examples, change["examples"], 0)
    mark([change[name] for name in ("change", "low", "high", "p", "carried", "skew", "tail")])
    compare("carried by more than there are", max(0, change["carried"] - examples), 0, 1e-6)
    most = 1 if change["low"] is None else 0.2  # |skew| of a change with an interval
    compare("skew beyond its limit", max(0, abs(change["skew"]) - most), 0, 1e-6)
    if change["low"] is None:
        return
    compare("tail beyond its limit", max(0, change["tail"] - 0.4), 0, 1e-6)
    sides = change["change"] - change["low"], change["high"] - change["change"]
    width = sum(sides)
    compare("interval without its mean", min(sides) < 0 or max(sides) > 4 * min(sides) + 0.01, 0, 0)
    clear = max(change["low"], -change["high"])  # above 0: the interval leaves 0 out
    agree = abs(clear) < 1e-2 * width or (change["p"] < 0.05) == (clear > 0)
    compare("p beside the interval", not agree or not 1e-6 <= change["p"] <= 1, 0, 0)


def keys_of_others(r, relations, truth, is_alone):
    """Keys that are true in other relations, by query: those that random edges never lead to, since
    the targets of relation r are also those of others, and those that they lead to last."""
    keys = {}
    for other, edges in zip(relations, truth):
        if other is not relations[r] and other["kind"] == relations[r]["kind"]:
            for b, t, key in edges:
                keys.setdefault((int(b), int(t)), set()).add(int(key))
    return ({}, keys) if is_alone else (keys, {})


def costs_of_edges(model, batch, patterns, truth, heads, everywhere, never, last, draws=5):
    queries = {}
    for b, t, key in truth:
        queries.setdefault((int(b), int(t)), []).append(int(key))
    place = {head: [h for m, h in model.heads if m == head[0]].index(head[1])
             for head in model.heads}

    def nothing():
        return {m: np.zeros(p.shape, bool) for m, p in enumerate(patterns) if p is not None}

    def hidden_losses(edges):
        return sums_of(model.logits(batch, hidden=edges), batch.targets)
    edges, mass, randomised, weight = nothing(), {}, 0, 0
    for (b, t), keys in queries.items():
        for head in heads:
            at = head[0], (b, place[head], t, keys)
            edges[at[0]][at[1]] = True
            mass[b, t] = mass.get((b, t), 0) + patterns[at[0]][at[1]].sum()
    random = np.random.default_rng(1)
    for _ in range(draws):
        drawn = nothing()
        for (b, t), keys in queries.items():
            left_out = {*keys, *never.get((b, t), ())}
            pool = [(m, place[m, h], key) for m, h in everywhere
                    for key in np.flatnonzero(patterns[m][b, place[m, h], t])
                    if key not in left_out]
            pool = [pool[i] for i in random.permutation(len(pool))]
            pool.sort(key=lambda edge: edge[2] in last.get((b, t), ()))  # keeps the random order
            left = mass[b, t]
            for m, h, key in pool:
                if left <= 0:
                    break
                drawn[m][b, h, t, key] = True
                left -= patterns[m][b, h, t, key]
                weight += patterns[m][b, h, t, key] / draws / len(queries)
        randomised = randomised + hidden_losses(drawn) / draws
    return {"truth": hidden_losses(edges), "random": randomised, "weight": weight,
            "mass": sum(mass.values()) / len(queries)}


def pair_costs(model, batch, a, b):
    """With a and b ablated, by itself; then, at the same scales of the norms, the logits with
    neither, a, and b ablated."""
    joint = model.logits(batch, frozenset({a, b}))
    scales = model.deviations
    at_scales = [model.logits(batch, frozenset(ablated), scales) for ablated in ((), {a}, {b})]
    return [V(logits.value) for logits in (joint, *at_scales)]  # without the passes, which are large


def compare_pairs(model, batch, truth, said):
    targets = (batch.targets >= 0).sum((1, 2))
    loss = model.mean_loss(batch)
    compare("loss", loss, said["pairs"]["loss"], 1e-5)
    compare("targets", targets.sum(), said["pairs"]["targets"], 0)
    compare("examples", batch.size, said["pairs"]["examples"], 0)
    names = [relation["name"] for relation in said["relations"]]
    for pair in said["pairs"]["pairs"]:
        a, b = tuple(pair["first"]), tuple(pair["second"])
        mark([pair["first"], pair["second"]])
        alone = [model.mean_loss(batch, {head}) - loss for head in (a, b)]
        compare("pairs", model.mean_loss(batch, {a, b}) - loss, pair["joint"], 1e-5)
        compare("pairs", sum(alone), pair["sum"], 1e-5)
        logits = remember(("pair", a, b), lambda: pair_costs(model, batch, a, b))
        joint, whole, without_a, without_b = logits
        added = V(without_a.value + without_b.value - whole.value)
        joint_losses, added_losses = (sums_of(x, batch.targets) for x in (joint, added))
        compare("pairs", added_losses.sum() / targets.sum() - loss, pair["independent"], 1e-5)
        compare_change("interaction", joint_losses - added_losses, targets, pair["interaction"])
    for pair in said["pairs"]["relations"]:
        a, b = tuple(pair["first"]), tuple(pair["second"])
        mark([pair["first"], pair["second"]])
        logits = remember(("pair", a, b), lambda: pair_costs(model, batch, a, b))
        r = names.index(pair["relation"])
        own = with_targets_of(said["relations"][r], truth[r], batch, said["target_names"])
        compare_knowing(model, own, pair, (a, b))
        if pair["beyond"]["examples"]:
            losses = [sums_of(x, own.targets) for x in logits]
            compare_change("beyond", losses[0] + losses[1] - losses[2] - losses[3],
                           (own.targets >= 0).sum((1, 2)), pair["beyond"])
            cost = (losses[0] - losses[1]).sum() / (own.targets >= 0).sum()
            compare("beyond, of both", pair["beyond"]["change"] / cost, pair["beyond_share"], 1e-4)
        else:
            compare("beyond, of no relation", None, pair["beyond_share"], 0)


def compare_knowing(model, batch, pair, heads):
    """What each of two heads adds to the right logit directly, and with the other ablated."""
    targets = (batch.targets >= 0).sum((1, 2))
    model.logits(batch)
    scales, whole = model.deviations, shares_of(model, batch)
    for side, head, other in (("of_first", *heads), ("of_second", *heads[::-1])):
        name = f"{head[0]}.{head[1]}"
        share = whole[name].sum((1, 2))
        compare_change("share of the logit", share, targets, pair[side]["share"], 1e-4)
        if pair[side]["rise"]["examples"]:
            model.logits(batch, frozenset({other}), scales)
            without = shares_of(model, batch)[name].sum((1, 2))
            compare_change("rise of the share", without - share, targets, pair[side]["rise"], 1e-4)


# ---- weights alone, and activations of other inputs ----------------------------------------------

def weights_of(model, m, h):
    """W_Q, W_K, W_V, W_O of a head, with the norms before them folded in at scale 1."""
    name, kind, layer = model.modules[m]
    numbers = model.left(name, layer)
    per_block = model.original_heads(layer) // (model.c["kv_heads"] or model.original_heads(layer))
    blocks = sorted({other // per_block for other in numbers})
    i, block = numbers.index(h), blocks.index(h // per_block)

    def part(label, axis, place, count):
        return np.split(model.p[f"{name}.W_{label}"].value, count, axis)[place]
    Q, O = part("Q", 1, i, len(numbers)), part("O", 0, i, len(numbers))
    K, W_V = part("K", 1, block, len(blocks)), part("V", 1, block, len(blocks))
    stem = name.rsplit(".", 1)[0]
    reads = stem + (".ln_cross" if kind == 2 else ".ln1")
    keys = "encoder.ln_final" if kind == 2 else reads
    return folded(model, reads, Q), folded(model, keys, K), folded(model, keys, W_V), O


def folded(model, name, W):
    if model.c["norm_place"] == "post" or model.c["norm"] == "none":
        return W
    scaled = model.p[name + ".w"].value[:, None] * W
    return scaled - scaled.mean(0) if model.c["norm"] == "layer" else scaled


def compare_circuits(model, said):
    E, tokens = model.p["embed.W_E"].value, np.arange(model.c["vocab"])
    prefix = "decoder." if model.encoder_decoder else ""
    W_U = E.T if model.c["tied"] else model.p["unembed.W_U"].value
    W_U = folded(model, prefix + "ln_final", W_U)
    for head in said["heads"]:
        mark([head["layer"], head["head"]])
        Q, K, W_V, O = weights_of(model, head["layer"], head["head"])
        near = 1.5 / len(tokens)  # two keys that score the same
        matches = ((E @ Q @ K.T @ E.T).argmax(1) == tokens).mean()
        compare("circuits: matches", matches, head["matches"], near)
        values = np.linalg.eigvals(K.T @ E.T @ E @ Q)
        compare("circuits: matching", values.sum().real / abs(values).sum(), head["matching"], 1e-4)
        if model.modules[head["layer"]][1] == 1:  # the encoder writes to no logit
            continue
        if model.c.get("answers"):  # no token is an answer
            continue
        for k, U in enumerate(np.split(W_U, W_U.shape[1] // len(tokens), 1)):
            values = np.linalg.eigvals(O @ U @ E @ W_V)
            compare("circuits: copying", values.sum().real / abs(values).sum(), head["copying"][k], 1e-4)
            copies = ((E @ W_V @ O @ U).argmax(1) == tokens).mean()
            compare("circuits: copies", copies, head["copies"][k], near)
    for one in said["compositions"]:
        mark([one["from"], one["to"]])
        _, _, V_from, O_from = weights_of(model, *one["from"])
        Q, K, V_to, O_to = weights_of(model, *one["to"])
        read = {"Q": Q @ K.T, "K": K @ Q.T, "V": V_to @ O_to}[one["kind"]]
        written = V_from @ O_from
        norms = np.linalg.norm(written) * np.linalg.norm(read)
        compare("circuits: strength", np.linalg.norm(written @ read) / norms, one["strength"], 1e-5)


    # p counts the pair itself among its random compositions.
    draws = said["draws"]
    as_strong = draws * (1 - np.array([one["percentile"] for one in said["compositions"]]) / 100)
    p = (1 + as_strong) / (1 + draws)
    mark([one["z"] for one in said["compositions"]])
    order, largest = np.argsort(p, kind="stable"), 0.0
    for i, place in enumerate(order):
        largest = max(largest, min(1.0, p[place] * (len(p) - i)))
        compare("circuits: corrected p", largest, said["compositions"][place]["p_holm"], 1e-5)
    compare_floors([float(one["p_holm"]) for one in said["compositions"]], said["tables"])
    for one in said["trigrams"]:
        compare_trigram(model, one, E, W_U)


def compare_trigram(model, one, E, W_U):
    """The destination and the output on which a source has most effect, and how much."""
    mark([one["layer"], one["head"], one["target"]])
    Q, K, W_V, O = weights_of(model, one["layer"], one["head"])
    outputs = model.c.get("answers") or model.c["vocab"]
    U = W_U[:, one["target"] * outputs:(one["target"] + 1) * outputs]
    qk, ov = E @ Q @ K.T @ E.T / math.sqrt(Q.shape[1]), E @ W_V @ O @ U
    qk, ov = qk - qk.mean(1, keepdims=True), ov - ov.mean(1, keepdims=True)
    source = one["source"]
    mark([one["source"], one["destination"], one["out"]])
    compare("circuits: trigram", qk[:, source].max(), one["qk"], 1e-5 * max(1, abs(qk).max()))
    compare("circuits: trigram", ov[source].max(), one["ov"], 1e-5 * max(1, abs(ov).max()))
    compare("circuits: trigram", qk[one["destination"], source], one["qk"], 1e-5 * max(1, abs(qk).max()))
    compare("circuits: trigram", ov[source, one["out"]], one["ov"], 1e-5 * max(1, abs(ov).max()))
    compare("circuits: product", one["qk"] * one["ov"], one["product"], 1e-6)


def compare_patching(model, batch, said):
    """The first half of the examples is clean, the second is patched with what its heads put out."""
    half = batch.size // 2
    clean, corrupted = halves = copy.copy(batch), copy.copy(batch)
    for i, one in enumerate(halves):
        for name in ("tokens", "targets", "source", "lengths", "source_lengths"):
            setattr(one, name, getattr(batch, name)[i * half:(i + 1) * half])
        one.size = half
    differ = (clean.targets >= 0) & (corrupted.targets >= 0) & (clean.targets != corrupted.targets)

    def difference(of):
        logits = model.logits(of).value
        right, wrong = (np.take_along_axis(logits, np.maximum(one.targets, 0)[..., None], -1)[..., 0]
                        for one in halves)
        return (right - wrong)[differ].mean()
    ends = {"clean": difference(clean)}
    outputs = model.z
    model.z = {}
    ends["corrupted"] = difference(corrupted)
    for name, value in ends.items():
        compare("patching", value, said[name], 1e-4)
    compare("patching", [half, differ.sum()], [said["pairs"], said["targets"]], 0)
    for head in said["heads"]:
        m, h = head["layer"], head["head"]
        mark([m, h])
        place = [other for module, other in model.heads if module == m].index(h)
        model.put = {m: {place: outputs[m][:, place:place + 1]}}
        found = (difference(corrupted) - ends["corrupted"]) / (ends["clean"] - ends["corrupted"])
        compare("patching", found, head["restored"], 1e-4 * max(1, abs(found)))
    model.put = {}
    compare_nodes(model, halves, differ, said)


class Halves:
    """Passes of both halves of a batch, of which one is the base and the other gives what is put in
    its place. Logit differences are sums by pair of examples."""

    def __init__(self, model, base, donor, clean, corrupted, differ):
        self.model, self.batch, self.differ = model, base, differ
        self.answers = clean.targets, corrupted.targets
        model.put = {}
        self.donor_sums, self.donor = self.run(donor), self.kept()
        self.base_sums, self.base = self.run(base), self.kept()
        self.whole = self.donor_sums - self.base_sums

    def kept(self):
        m = self.model
        return {name: value.value for name, value in m.nodes.items()}

    def run(self, batch):
        self.model.nodes = {}
        self.logits = self.model.logits(batch)
        right, wrong = (np.take_along_axis(self.logits.value, np.maximum(t, 0)[..., None], -1)[..., 0]
                        for t in self.answers)
        return np.where(self.differ, right - wrong, 0).sum((1, 2))

    def place(self, m, h):
        return [other for module, other in self.model.heads if module == m].index(h)

    def effect(self):
        """What the values that are put in place change, by pair."""
        part = self.run(self.batch) - self.base_sums
        self.model.put, self.model.put_networks, self.model.put_streams = {}, {}, {}
        return part

    def z_with(self, kind, m, i, other):
        """z of a head of the base with one of its inputs, its pattern or itself of another pass."""
        q, k, v, own = (self.base[name, m][:, i] for name in ("q", "k", "v", "pattern"))
        changed = other["z" if kind == "output" else kind, m][:, i]

        def attend(q, k):
            scores = np.where(own > 0, q @ np.swapaxes(k, 1, 2) / math.sqrt(q.shape[-1]), -np.inf)
            weights = np.exp(scores - np.maximum(scores.max(-1, keepdims=True), -1e300))
            return weights / np.maximum(weights.sum(-1, keepdims=True), 1e-300)
        return {"q": lambda: attend(changed, k) @ v, "k": lambda: attend(q, changed) @ v,
                "v": lambda: own @ changed, "pattern": lambda: changed @ v,
                "output": lambda: changed}[kind]()

    def node_names(self):
        """Every node that is patched: (kind, head, place, position)."""
        names = [(kind, head, self.model.modules[head[0]][0], None) for head in self.model.heads
                 for kind in ("q", "k", "v", "pattern", "output")]
        names += [("mlp", None, name, None) for name in self.base if isinstance(name, str)]
        streams = [name for name in self.base if name[0] == "stream"]
        return names + [("stream", None, f"stream.{name[1]}", t) for name in streams
                        for t in range(self.base[name].shape[1])]

    def put_head(self, m, i, z):
        self.model.put = {m: {i: z[:, None]}}

    def at(self, name):
        """Where self.base and the gradients have a node, and the index there."""
        kind, head, place, position = name
        if kind == "mlp":
            return place, (slice(None),)
        if kind == "stream":
            return ("stream", int(place.split(".")[1])), (slice(None), position)
        return ("z" if kind == "output" else kind, head[0]), (slice(None), self.place(*head))

    def node_effect(self, name):
        kind, head, place, _ = name
        if head is not None:
            i = self.place(*head)
            self.put_head(head[0], i, self.z_with(kind, head[0], i, self.donor))
            return self.effect()
        of, at = self.at(name)
        x = self.base[of].copy()
        x[at] = self.donor[of][at]
        if kind == "mlp":
            self.model.put_networks = {place: x}
        else:
            self.model.put_streams = {of[1]: x}
        return self.effect()

    def gradients(self):
        """By node: of the mean logit difference in the pass of the base."""
        self.run(self.batch)
        direction = np.zeros(self.logits.value.shape)
        for targets, sign in zip(self.answers, (1, -1)):
            hot = np.maximum(targets, 0)[..., None]
            values = np.take_along_axis(direction, hot, -1) + sign * self.differ[..., None]
            np.put_along_axis(direction, hot, values, -1)
        product(self.logits, V(direction / self.differ.sum())).backward()
        found = {name: node.grad for name, node in self.model.nodes.items()}
        for parameter in self.model.p.values():
            parameter.grad = None
        return found

    def estimate(self, name, gradients):
        """Gradient times difference, as a share of the mean difference of both passes."""
        of, at = self.at(name)
        if gradients.get(of) is None:
            return 0.0
        step = (gradients[of] * (self.donor[of] - self.base[of]))[at]
        return step.sum() / (self.whole.sum() / self.differ.sum())

    def path_effects(self):
        """By (from, to, by): all heads keep their outputs of the base, but the sender has that of the
        donor, and the receiver reads what this changes."""
        found, heads = {}, self.model.heads

        def frozen():
            return {m: {self.place(m, h): self.base["z", m][:, [self.place(m, h)]]
                        for of, h in heads if of == m} for m in {m for m, _ in heads}}
        for m, h in heads:
            i = self.place(m, h)
            self.model.put = frozen()
            self.model.put[m][i] = self.donor["z", m][:, [i]]
            found[(m, h), None, "logits"] = self.effect()
            sent = self.kept()
            for to, other in heads:
                for by in ("q", "k", "v") if to > m else ():
                    j = self.place(to, other)
                    self.put_head(to, j, self.z_with(by, to, j, sent))
                    found[(m, h), (to, other), by] = self.effect()
        return found


def compare_effect(what, part, whole, theirs, ends=("low", "high")):
    """A share of the logit difference with its interval by the linearised ratio (Cochran 1977)."""
    # The share divides by the mean difference, and with it the rounding of logits in float.
    rounding, effect, n = 1e-5 * max(1, 1 / abs(whole.mean())), part.sum() / whole.sum(), len(part)
    compare(what, effect, theirs["mean"], rounding * max(1, abs(effect)))
    if n < 30 or not ends:
        return
    e = part - effect * whole
    half = t_point(n - 1) * math.sqrt(n / (n - 1) * (e ** 2).sum()) / abs(whole.sum())
    for end, value in zip(ends, (effect - half, effect + half)):
        compare("patching: interval", value, theirs[end], 1e-4 * max(1, abs(value)))


def compare_nodes(model, halves, differ, said):
    """Each node, and each path, of one half in a pass of the other half."""
    clean, corrupted = halves
    for direction, base, donor in (("restore", corrupted, clean), ("break", clean, corrupted)):
        def measure():
            passes = Halves(model, base, donor, clean, corrupted, differ)
            gradients = passes.gradients()
            names = passes.node_names()
            return (passes, names, [passes.node_effect(name) for name in names],
                    [passes.estimate(name, gradients) for name in names], passes.path_effects())
        passes, names, effects, estimates, paths = remember(("nodes", direction), measure)
        nodes = [n for n in said["nodes"] if n["direction"] == direction]
        compare("patching: number of nodes", len(nodes), len(names), 0)
        for node, name, part, estimate in zip(nodes, names, effects, estimates):
            mark([node["of"], node["position"]])
            of = node["of"] and tuple(node["of"])
            told = (node["node"], of, node["place"], node["position"])
            compare("patching: names of nodes", told != name, 0, 0)
            if direction == "restore" and name[0] == "stream":
                stream, t = int(name[2].split(".")[1]), name[3]
                compare_effect("patching: streams", part, passes.whole,
                               {"mean": said["residual"][stream][t]}, ends=())
            compare_effect("patching: nodes", part, passes.whole, node["effect"])
            rounding = 1e-5 * max(1, 1 / abs(passes.whole.mean()))
            compare("patching: estimates", estimate, node["estimate"],
                    rounding * max(1, abs(estimate)))
        rows = [row for row in said["paths"] if row["direction"] == direction]
        compare("patching: paths", len(paths), len(rows), 0)
        for row in rows:
            mark([row["from"], row["to"]])
            to = row["to"] and tuple(row["to"])
            compare_effect("patching: paths", paths[tuple(row["from"]), to, row["by"]], passes.whole,
                           row["effect"])
        for row in said["estimates"]:
            of = [i for i, n in enumerate(nodes) if n["node"] == row["node"]]
            if row["direction"] != direction:
                continue
            compare("patching: nodes of a kind", len(of), row["count"], 0)
            if row["correlation"] is not None:
                ours = [part.sum() / passes.whole.sum() for part in effects], estimates
                theirs = [n["effect"]["mean"] for n in nodes], [n["estimate"] for n in nodes]
                rounding = 1e-5 * max(1, 1 / abs(passes.whole.mean()))
                for columns, near in ((ours, rounding), (theirs, 1e-6)):
                    x, y = ([float(column[i]) for i in of] for column in columns)
                    spread = max(1e-300, min(np.std(x), np.std(y)))  # rounding counts in units of it
                    compare("patching: correlation", correlation(x, y), row["correlation"],
                            near * max(1, 1 / spread if columns is ours else 1))


def correlation(x, y):
    """Pearson's; 0 if either side is constant."""
    return 0 if np.std(x) == 0 or np.std(y) == 0 else np.corrcoef(x, y)[0, 1]


# ---- edges, and attention over layers ------------------------------------------------------------

def given_truth(given, name, relations):
    """{(b, t): keys} by relation."""
    found = []
    for r in range(len(relations)):
        found.append({})
        for b, t, key in given[f"{name}_truth{r}"].reshape(-1, 3):
            found[r].setdefault((int(b), int(t)), set()).add(int(key))
    return found


def layers_of(model, b, n):
    """By layer: the mean pattern of its heads on a sequence of n positions and the identity, with rows
    divided by their sums."""
    layers = []
    for pattern in model.patterns:
        A = np.eye(n) + (0 if pattern is None else pattern[b, :, :n, :n].mean(0))
        layers.append(A / A.sum(1, keepdims=True))
    return layers


def uniform_layers(model, n):
    """layers_of() if the heads of each layer attended evenly to the keys that their mask allows."""
    layers = []
    back = np.arange(n)[:, None] - np.arange(n)
    for m, pattern in enumerate(model.patterns):
        seen = (back < model.window(m)) & (back > -model.window(m))
        if model.c["architecture"] == "decoder":
            seen &= back >= 0
        A = np.eye(n) + (0 if pattern is None else seen / seen.sum(1, keepdims=True))
        layers.append(A / A.sum(1, keepdims=True))
    return layers


def rollout_of(layers):
    return functools.reduce(lambda below, layer: layer @ below, layers)


def compare_rollout(model, given, said, relations):
    batch, truth = Batch(given, "of_rollout"), given_truth(given, "of_rollout", relations)

    def maps():
        model.logits(batch)
        layers = [layers_of(model, b, int(n)) for b, n in enumerate(batch.lengths)]
        return [rollout_of(of) for of in layers]
    found = remember("rollout", maps)
    longest = max(len(one) for one in found)
    whole, reached = np.zeros((longest, longest)), np.zeros((longest, 1))
    for one in found:
        whole[:len(one), :len(one)] += one
        reached[:len(one)] += 1
    told = [list(row) + [0] * (longest - len(row)) for row in said["rollout"]]
    for row in said["rollout"]:
        mark(row)
    compare("rollout", whole / reached, told, 1e-5)
    even = {len(one): rollout_of(uniform_layers(model, len(one))) for one in found}
    compare("examples", batch.size, said["examples"], 0)
    for r, row in enumerate(said["relations"]):
        queries = [(b, t, sorted(keys)) for (b, t), keys in truth[r].items()]
        compare("rollout: queries", len(queries), row["queries"], 0)
        shares = [found[b][t, keys].sum() for b, t, keys in queries]
        compare("rollout: shares", np.mean(shares or [0]), row["rollout"], 1e-5)
        uniform = [even[len(found[b])][t, keys].sum() for b, t, keys in queries]
        compare("rollout: uniform", np.mean(uniform or [0]), row["uniform"], 1e-5)
        targets, costs = remember(("cost", r), lambda: costs_of_relation(model, given, relations, r,
                                                                         said["targets"]))
        if (targets > 0).sum() >= 30:
            compare_change("rollout: cost", costs, targets, row["cost"], 1e-5)
        else:
            mark(list(row["cost"].values()))


def costs_of_relation(model, given, relations, r, names):
    """Targets by example; rise of the loss with the ground-truth edges masked in all heads."""
    batch = remember("examples of costs", lambda: Batch(given, "held_out"))
    truth = given[f"held_out_truth{r}"].reshape(-1, 3)
    own = with_targets_of(relations[r], truth, batch, names)
    answers = remember("answers of costs", lambda: (model.logits(batch).value, model.patterns))
    whole, model.patterns = sums_of(V(answers[0]), own.targets), answers[1]
    hidden = {m: np.zeros(pattern.shape, bool) for m, pattern in enumerate(model.patterns)
              if pattern is not None and model.modules[m][1] == relations[r]["kind"]}
    for b, t, key in truth:
        for edges in hidden.values():
            edges[b, :, t, key] = True
    return (own.targets >= 0).sum((1, 2)), sums_of(model.logits(own, hidden=hidden), own.targets) - whole


def edges_of_queries(model, batch, truth, relations, kind):
    """By example: (t, s) of each query with ground truth and each key that some layer sees."""
    judge = Judge(model, batch, relations, [])
    windows = [model.window(m) for m, (_, of, _) in enumerate(model.modules)
               if of == kind and model.patterns[m] is not None]
    found = [[] for _ in range(batch.size)]
    for b, t in sorted({query for r, of in enumerate(truth) if relations[r]["kind"] == kind
                        for query in of}):
        keys = judge.visible(kind, b, t)
        found[b] += [(t, s) for s in range(keys) if any(abs(t - s) < window for window in windows)]
    return found


def scores_of_edges(model, batch, edges, kind):
    """By score and example: a value for each edge."""
    def attention():
        return [m for m, (_, of, _) in enumerate(model.modules)
                if of == kind and model.patterns[m] is not None]

    def gradients(of_loss):
        logits = model.logits(batch)
        if of_loss:
            cross_entropy(logits, batch.targets)[0].backward()
        else:
            margins = np.full(logits.value.shape, 1 / logits.value.shape[-1])
            hot = np.maximum(batch.targets, 0)[..., None]
            np.put_along_axis(margins, hot, np.take_along_axis(margins, hot, -1) - 1, -1)
            product(logits, V(margins * (batch.targets >= 0)[..., None])).backward()
        for parameter in model.p.values():
            parameter.grad = None
        return {m: model.nodes["pattern", m].grad for m in attention()}
    slopes = [gradients(False), gradients(True)]
    A = {m: model.patterns[m] for m in attention()}

    def rises(G):
        """By the first order: the weight goes to 0 and the rest of the row grows in proportion."""
        total = 0
        for m in A:
            if G[m] is None:
                continue
            lost, mean = A[m] * G[m], (A[m] * G[m]).sum(-1, keepdims=True)
            rest = A[m].sum(-1, keepdims=True) - A[m]
            grown = np.where(rest > 0, A[m] / np.where(rest > 0, rest, 1) * (mean - lost), 0)
            total = total + (grown - lost).sum(1)
        return total
    maps = {"attention": sum(A[m].sum(1) for m in A), "attribution": rises(slopes[0]),
            "attribution_loss": rises(slopes[1]),
            "importance": sum(abs(A[m] * (G - (A[m] * G).sum(-1, keepdims=True))).sum(1)
                              for m, G in slopes[1].items() if G is not None)}
    scores = {name: [np.array([of[b, t, s] for t, s in edges[b]]) for b in range(batch.size)]
              for name, of in maps.items()}
    if not model.encoder_decoder:
        rollouts = [rollout_of(layers_of(model, b, int(n))) for b, n in enumerate(batch.lengths)]
        scores["rollout"] = [np.array([rollouts[b][t, s] for t, s in edges[b]])
                             for b in range(batch.size)]
    whole = sums_of(model.logits(batch), batch.targets)
    scores["ablation"] = [np.zeros(len(of)) for of in edges]
    for i in range(max(map(len, edges))):
        hidden = {m: np.zeros(A[m].shape, bool) for m in A}
        for b, of in enumerate(edges):
            for m in A if i < len(of) else ():
                hidden[m][b, :, of[i][0], of[i][1]] = True
        losses = sums_of(model.logits(batch, hidden=hidden), batch.targets) - whole
        for b, of in enumerate(edges):
            if i < len(of):
                scores["ablation"][b][i] = losses[b]
    return scores


def area_of(truth, others, rounding):
    """The area under the ROC curve, and how much of it pairs carry that differ by rounding alone."""
    d = truth[:, None] - others[None]
    return ((d > 0) + (d == 0) / 2).mean(), ((abs(d) < rounding) & (d != 0)).mean()


def compare_areas(model, given, said, relations):
    batch, truth = Batch(given, "of_edges"), given_truth(given, "of_edges", relations)
    compare("examples", batch.size, said["examples"], 0)

    def scored(kind):
        model.logits(batch)
        edges = edges_of_queries(model, batch, truth, relations, kind)
        return edges, scores_of_edges(model, batch, edges, kind)
    for row in said["relations"]:
        r = [relation["name"] for relation in relations].index(row["relation"])
        kind = relations[r]["kind"]
        edges, scores = remember(("areas", kind), lambda: scored(kind))
        own = truth[r]
        every = [of for other, of in enumerate(truth) if relations[other]["kind"] == kind]
        for cell in row["scores"]:
            areas, doubts, count = [], [], 0
            for b, of in enumerate(edges):
                asked = [i for i, (t, _) in enumerate(of) if (b, t) in own]
                right = [i for i in asked if of[i][1] in own[b, of[i][0]]]
                others = [i for i in asked if not any(of[i][1] in other.get((b, of[i][0]), ())
                                                      for other in every)]
                if not right or not others:
                    continue
                values, count = scores[cell["score"]][b], count + len(right)
                area, doubt = area_of(values[right], values[others], 1e-6 + 1e-5 * abs(values).max())
                areas.append(area)
                doubts.append(doubt)
            compare("areas: edges", [count, len(areas)], [cell["edges"], cell["examples"]], 0)
            if not areas:
                mark(list(cell["area"].values()))
                continue
            doubt = np.mean(doubts)
            compare("areas: " + cell["score"], np.mean(areas), cell["area"]["mean"], 1e-5 + doubt)
            compare("areas: pairs that differ by rounding", doubt, 0, 0.05)
            for end, value in zip(("low", "high"), share_interval(areas)):
                if doubt == 0 or cell["area"][end] is None:
                    compare("areas: interval", value, cell["area"][end], 1e-5)
                else:
                    compare("areas: interval", value, cell["area"][end], 1e-5 + 10 * doubt)


@functools.cache
def t_point(freedom):
    """The 97.5% point of Student's t."""
    low, high = 1.9, 13.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_tail(middle, freedom) > 0.05 else (low, middle)
    return low


def share_interval(shares):
    """Wilson's interval of as many trials as the spread of the shares is worth, at least one each."""
    n, z = len(shares), 1.959963984540054
    if n < 2:
        return [math.nan, math.nan]
    p, variance, trials = np.mean(shares), np.var(shares, ddof=1) / n, n
    if np.ptp(shares) > 1e-12 * np.max(shares):
        trials = max(n, p * (1 - p) / variance * (z / t_point(n - 1)) ** 2)
    middle, half = p + z * z / (2 * trials), z * math.sqrt(p * (1 - p) / trials + (z / trials) ** 2 / 4)
    return np.clip([(middle - half) / (1 + z * z / trials), (middle + half) / (1 + z * z / trials)], 0, 1)


def compare_statistics(said):
    """Intervals and chances of ten seeds, by the formulas; every way of flipping their signs."""
    mark([said["losses"], said["others"]])
    losses, others = np.array(said["losses"], float), np.array(said["others"], float)
    n, t = len(losses), 2.2621571627982  # the 97.5% point of Student's t with 9 degrees of freedom

    def interval(x):
        half = t * x.std(ddof=1) / math.sqrt(n)
        return [x.mean(), x.mean() - half, x.mean() + half]
    d = np.log(losses / others)
    flips = np.array(list(itertools.product((1, -1), repeat=n)))

    def chance(differences):
        """p of sign flips: the share of flips whose sum is at least as large as that of the differences."""
        return (abs(flips @ differences) >= abs(differences.sum()) * (1 - 1e-9)).mean()

    def end_of_shifts(outside):
        """The shift between the mean and `outside` at which p of the shifted differences falls below 0.05."""
        inside = d.mean()
        for _ in range(60):
            middle = (inside + outside) / 2
            if chance(d - middle) >= 0.05:
                inside = middle
            else:
                outside = middle
        return inside
    compare("ratio over seeds", np.exp(d.mean()), said["ratio"]["mean"], 1e-6)
    reach = 10 * (d.max() - d.min())
    ends = np.exp([end_of_shifts(d.mean() - reach), end_of_shifts(d.mean() + reach)])
    compare("interval of flips", ends, [said["ratio"][end] for end in ("low", "high")], 1e-5 * ends.max())
    for what, ours in (("mean", interval(losses)), ("geometric", np.exp(interval(np.log(losses))))):
        compare("intervals over seeds", ours, [said[what][end] for end in ("mean", "low", "high")],
                1e-6 * max(1, np.max(np.abs(ours))))
    shares = np.exp(-losses)
    p, ends = shares.mean(), share_interval(shares)
    compare("intervals of shares", [p, *ends], [said["share"][end] for end in ("mean", "low", "high")], 1e-5)
    compare("chance over seeds", chance(d), said["p"], 1e-9)
    compare("effect", d.mean() / d.std(ddof=1), said["effect"], 1e-9 * max(1, abs(said["effect"])))
    compare("wins", (d < 0).sum(), said["wins"], 0)
    margin = math.log(1.25)
    one_sided = [((flips * x).sum(1) >= x.sum() - 1e-9).mean() for x in (margin - d, margin + d)]
    compare("chance of no equality", max(one_sided), said["equal_p"], 1e-9)
    asked = [said["p"], 0.01, 0.04, 0.03, 0.5]
    factors, reached = holm(asked), 0
    for i in np.argsort(asked, kind="stable"):
        reached = max(reached, min(1, asked[i] * factors[i]))
        compare("Holm", reached, said["holm"][i], 1e-9)


def compare_used(method, within, sizes):
    """The least size whose loss is near that of all heads. Sizes that were left out bound it."""
    mark(method["guard"])
    if method["guard"] == "guessing":
        compare("heads used", math.nan, method["used"], 0)
        return
    least = max([size + 1 for size in sizes if within and size < within[0]], default=0)
    if within and least < within[0]:
        compare("bounds of heads used", [least, within[0]], method["used_bounds"], 0)
    else:
        compare("heads used", within[0] if within else math.nan, method["used"], 0)


def compare_curve(model, held_out, choosing, said):
    everything = set(model.heads)
    curve = said["curve"]
    ends = {"full": set(), "none": everything}
    for name, ablated in ends.items():
        compare("curve", model.mean_loss(held_out, ablated), curve[name]["loss"], 1e-4)
        compare("accuracy", model.accuracy(held_out, ablated), curve[name]["accuracy"], 2e-3)
    full = model.mean_loss(choosing)
    compare("ablation of the curve", [model.mean_loss(choosing, {head}) - full
                                      for head in model.heads], curve["ablation"], 1e-4)
    for relation, owners in curve["owners"].items():
        mark(owners)
        owning = [[head["layer"], head["head"]] for head in said["heads"]["heads"]
                  if head["scores"][relation]["owns"]]
        compare("owners", sorted(owners) != owning, 0, 0)
    by_method = {method["method"]: method["points"] for method in curve["methods"]}
    lowest = {}
    for method in said["curve"]["methods"]:
        if method["method"] == "exhaustive":
            for size in range(len(everything) + 1):
                lowest[size] = min(model.mean_loss(choosing, everything - set(kept))
                                   for kept in itertools.combinations(model.heads, size))
        points = method["points"]
        losses = np.array([point["loss"] for point in points], float)
        sizes = np.array([point["kept"] for point in points], float)
        area = (np.diff(sizes) * (losses[1:] + losses[:-1]) / 2).sum() / (sizes[-1] - sizes[0])
        compare("area", area, method["area"], 1e-9)
        if "exhaustive" in by_method:
            best = np.array([point["loss"] for point in by_method["exhaustive"]], float)
            compare("regret", (losses - best).mean(), method["regret"], 1e-9)
            compare("sizes of the regret", len(losses), method["sizes"], 0)
        stays = [sum(list(head) in point["heads"] for point in points) for head in model.heads]
        compare("rank correlation", spearman(stays, curve["ablation"]),
                method["rank_correlation"], 1e-9)
        within = [p["kept"] for p in points if p["loss"] <= curve["full"]["loss"] + 0.01 * (
            curve["none"]["loss"] - curve["full"]["loss"])]
        compare_used(method, within, sizes)
        for point in points:
            mark(point["heads"])
            kept = {tuple(head) for head in point["heads"]}
            compare("heads kept", len(kept), point["kept"], 0)
            compare_owners(curve["owners"], kept, point)
            compare("accuracy", model.accuracy(held_out, everything - kept), point["accuracy"], 2e-3)
            ablated = everything - {tuple(head) for head in point["heads"]}
            compare("curve", model.mean_loss(held_out, ablated), point["loss"], 1e-4)
            chosen = model.mean_loss(choosing, ablated)
            compare("where it was chosen", chosen, point["choosing_loss"], 1e-4)
            if method["method"] == "exhaustive":
                compare("best of all subsets", chosen, lowest[point["kept"]], 1e-4)


def compare_owners(owners, kept, point):
    """recall: relations that still have an owner; precision: heads that are matched with one."""
    heads = [[tuple(head) for head in of] for of in owners.values() if of]
    matched = set()
    for of in heads:
        matched |= set([head for head in of if head in kept and head not in matched][:1])
    having = sum(any(head in kept for head in of) for of in heads)
    compare("recall", having / len(heads) if heads else None, point["recall"], 1e-9)
    compare("relations with an owner", len(heads), point["owned"], 0)
    compare("precision", len(matched) / len(kept) if kept else None, point["precision"], 1e-9)


def spearman(x, y):
    """The correlation of ranks, of which equal values have the mean."""
    def ranks(values):
        values = np.asarray(values, float)
        return np.array([(values < v).sum() + (values == v).sum() / 2 for v in values])
    a, b = ranks(x), ranks(y)
    a, b = a - a.mean(), b - b.mean()
    size = math.sqrt((a ** 2).sum() * (b ** 2).sum())
    return (a * b).sum() / size if size else 0


def compare_steps(config, tensors, given, said):
    """Relative to how far the parameters went: a step that is too long shows as such."""
    model, steps = Model(config, tensors), said["step_count"]
    start = {name: v.value.copy() for name, v in model.p.items()}
    m = {name: np.zeros_like(v) for name, v in start.items()}
    v = {name: np.zeros_like(x) for name, x in start.items()}
    clipped = 0
    for step in range(steps):
        batch = Batch(given, f"step{step}")
        for value in model.p.values():
            value.grad = None
        loss, _ = cross_entropy(model.logits(batch), batch.targets)
        (loss * (1 / (batch.targets >= 0).sum())).backward()
        gradients = {name: x.grad for name, x in model.p.items() if x.grad is not None}
        norm = math.sqrt(sum((g ** 2).sum() for g in gradients.values()))
        clipped += 0 < config["clip"] < norm
        scale = config["clip"] / (norm + 1e-6) if 0 < config["clip"] < norm else 1
        lr = learning_rate(config, step, steps)
        for name, g in gradients.items():
            w, g = model.p[name].value, g * scale
            decay = config["decay"] if w.ndim >= 2 else 0
            if config["optimizer"] == "adamw":
                w = w - lr * decay * w
            else:
                g = g + decay * w
            if config["optimizer"] == "sgd":
                m[name] = config["momentum"] * m[name] + g
                w = w - lr * m[name]
            else:
                b1, b2 = config["beta1"], config["beta2"]
                m[name] = b1 * m[name] + (1 - b1) * g
                v[name] = b2 * v[name] + (1 - b2) * g * g
                m_hat, v_hat = m[name] / (1 - b1 ** (step + 1)), v[name] / (1 - b2 ** (step + 1))
                w = w - lr * m_hat / (np.sqrt(v_hat) + config["eps"])
            model.p[name].value = w
    ours = np.concatenate([model.p[name].value.ravel() for name in start])
    theirs = np.concatenate([given["trained." + name] for name in start])
    begin = np.concatenate([value.ravel() for value in start.values()])
    way, their_way = ours - begin, theirs - begin
    # If a gradient is hardly more than rounding, Adam's first steps follow its sign: those
    # parameters differ, and the median does not see them.
    moved = np.abs(way) > 1e-3 * np.abs(way).max()
    compare(f"{steps} steps of {config['optimizer']}",
            np.linalg.norm(way - their_way) / np.linalg.norm(way), 0, 2e-2)
    print(f"{clipped} of {steps} steps were clipped")
    compare("length of these steps", np.median(their_way[moved] / way[moved]), 1, 2e-6)


def learning_rate(config, step, steps):
    warmup, lr, low = 5, config["lr"], config["min_lr"]
    if step < warmup:
        return lr * (step + 1) / warmup
    if config["schedule"] == "constant":
        return lr
    left = steps - warmup
    share = (step - warmup) / (left - 1) if left > 1 else 0
    if config["schedule"] == "linear":
        return lr + share * (low - lr)
    return low + (lr - low) * (1 + math.cos(math.pi * share)) / 2


def check(model, config, batches, given, said, about=None):
    """What differs; `about`: of one thing that is said."""
    worst.clear()
    scored, held_out, choosing = (batches[name] for name in ("scored", "held_out", "choosing"))
    relations = said["relations"]
    truth = [given[f"held_out_truth{r}"].reshape(-1, 3) for r in range(len(relations))]
    comparisons = {
        "heads": lambda: compare_heads(model, scored, given, said),
        "ablation": lambda: compare_ablation(model, held_out, said),
        "edges": lambda: compare_edges(model, held_out, truth, said),
        "edge_areas": lambda: compare_areas(model, given, said["edge_areas"], relations),
        "rollout": lambda: compare_rollout(model, given, {**said["rollout"], "targets": said["target_names"]},
                                     relations),
        "attribution": lambda: compare_attribution(model, held_out, said["attribution"]),
        "lens": lambda: compare_lens(model, held_out, said["lens"]),
        "pairs": lambda: compare_pairs(model, held_out, truth, said),
        "circuits": lambda: compare_circuits(model, said["circuits"]),
        "patching": lambda: compare_patching(model, held_out, said["patching"]),
        "explain": lambda: compare_explained(model, scored, said["explain"]),
        "statistics": lambda: compare_statistics(said["statistics"]),
        "curve": lambda: compare_curve(model, held_out, choosing, said)}
    for what, compare_it in comparisons.items():
        if what in said and about in (None, what):
            compare_it()
    return [what for what, (difference, allowed) in worst.items() if not difference <= allowed]


def numbers_in(told, path=()):
    for name, value in (told.items() if isinstance(told, dict) else
                        enumerate(told) if isinstance(told, list) else ()):
        if isinstance(value, Told):
            yield path + (name,), value
        yield from numbers_in(value, path + (name,))


def kind_of(path, relations):
    """"heads.relations[].best.mass": numbers of other heads and relations are of the same kind."""
    path = ["[]" if isinstance(part, int) else "." + ("*" if part in relations else part)
            for part in path]
    return "".join(path).lstrip(".")


def unnoticed_changes(model, config, batches, given, said):
    """Kinds of numbers of which one may be changed without a difference."""
    kinds = {}
    relations = [relation["name"] for relation in said["relations"]]
    for path, _ in numbers_in(said):
        kinds.setdefault(kind_of(path, relations), []).append(path)
    unnoticed = []
    for kind, paths in kinds.items():
        if any(re.search(pattern, kind) for pattern in NOT_COMPARED):
            continue
        path = paths[len(paths) // 2]
        *way, last = path
        holder = functools.reduce(lambda at, part: at[part], way, said)
        right = holder[last]
        holder[last] = type(right)(right + 1 + abs(right))
        try:
            noticed = check(model, config, batches, given, said, about=path[0])
        except (LookupError, ValueError, TypeError):
            noticed = True  # a head that there is not
        holder[last] = right
        if not noticed:
            unnoticed.append(kind)
    return kinds, unnoticed


def tables_in(told, path=()):
    """Paths of the lists of objects, which are the rows of tables."""
    for name, value in (told.items() if isinstance(told, dict) else
                        enumerate(told) if isinstance(told, list) else ()):
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
            yield path + (name,)
        yield from tables_in(value, path + (name,))


def rows_of_tables(model, said):
    """Kinds of tables with the number of rows that each has, for a decoder of one layer without a feed-forward
    network, trained on a task of which every relation and every target can be measured."""
    heads, relations, targets = len(model.heads), len(said["relations"]), len(said["target_names"])
    both = 2  # directions of patching; heads that are masked: the best one, all
    owned = sum(len(pair["relations"].split(", ")) for pair in said["pairs"]["pairs"] if pair["relations"])
    counts = dict.fromkeys(("heads.heads", "ablation.heads", "circuits.heads", "patching.heads"), heads)
    counts |= dict.fromkeys(("heads.relations", "edges.relations", "edge_areas.relations", "rollout.relations"),
                            relations)
    counts |= dict.fromkeys(("ablation.figures", "patching.figures", "rollout.figures"), 1)
    return counts | {
        "edges.relations[].tests": both,
        "circuits.trigrams": 5 * heads * targets,
        "patching.estimates": both * len(("q", "k", "v", "pattern", "output", "stream")),
        "lens.by_target": len(said["lens"]["places"]) * targets,
        "edge_areas.relations[].scores": 6,
        "pairs.pairs": heads * (heads - 1) // 2,
        "pairs.relations": owned,
        "curve.methods": len(("greedy", "ablation", "exhaustive")),
    }


def missing_rows(model, said):
    """Kinds of tables of which one has another number of rows."""
    relations = [relation["name"] for relation in said["relations"]]
    wanted = rows_of_tables(model, said)
    found = {}
    for path in tables_in(said):
        table = functools.reduce(lambda at, part: at[part], path, said)
        found.setdefault(kind_of(path, relations), []).append(len(table))
    tables = {kind: len(relations) if "[]" in kind else 1 for kind in wanted}  # one for each relation
    return [kind for kind, count in wanted.items() if found.get(kind) != [count] * tables[kind]]


def unnoticed_rows(model, config, batches, given, said):
    """Kinds of tables whose last row, or all of whose rows, may be left out without a difference."""
    kinds = {}
    relations = [relation["name"] for relation in said["relations"]]
    for path in tables_in(said):
        kinds.setdefault(kind_of(path, relations), path)
    unnoticed = []
    for kind, (*way, last) in kinds.items():
        if any(re.search(pattern, kind) for pattern in NOT_COUNTED):
            continue
        holder = functools.reduce(lambda at, part: at[part], way, said)
        rows = holder[last]
        for less, what in ((rows[:-1], "its last row"), ([], "all rows")):
            holder[last] = less
            try:
                noticed = (missing_rows(model, said) or
                           check(model, config, batches, given, said, about=(*way, last)[0]))
            except (LookupError, ValueError, TypeError, StopIteration):
                noticed = True
            if not noticed:
                unnoticed.append(f"{kind}: {what}")
        holder[last] = rows
    return kinds, unnoticed


def main():
    run, folder = sys.argv[1:3]
    with open(run + "/config.json") as file:
        config = json.load(file)
    with open(folder + "/said.json") as file:
        said = json.loads(file.read(), parse_int=Whole, parse_float=Real)
    tensors = read_safetensors(run + "/model.safetensors")
    given = read_safetensors(folder + "/given.safetensors")
    model = Model(config, tensors)
    batches = {name: Batch(given, name) for name in ("scored", "held_out", "choosing")}
    failed = bool(check(model, config, batches, given, said))
    compare_truth(config["task"], batches["scored"], given)
    if config["dropout"] == 0:
        compare_steps(config, tensors, given, said)
    for what, (difference, allowed) in worst.items():
        bad = not difference <= allowed
        failed = failed or bad
        print(f"{what:24} {difference:9.2e}  allowed {allowed:.0e}{'  DIFFERS' if bad else ''}")
    for path, count in not_compared(said).items():
        failed = True
        print(f"{path}: {count} numbers were compared with nothing")
    if "--change" in sys.argv:
        kinds, unnoticed = unnoticed_changes(model, config, batches, given, said)
        print(f"{len(kinds)} kinds of numbers changed, {len(unnoticed)} not noticed")
        for kind in unnoticed:
            failed = True
            print(f"{kind}: may be changed")
        for kind in missing_rows(model, said):
            failed = True
            print(f"{kind}: has another number of rows")
        tables, left_out = unnoticed_rows(model, config, batches, given, said)
        print(f"{len(tables)} tables shortened, {len(left_out)} not noticed")
        for what in left_out:
            failed = True
            print(f"{what} may be left out")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

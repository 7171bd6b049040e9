"""Writes attention_functions.json: attention by its formulas, in NumPy alone.

Each case holds q, k, v, its masks, and for every function the pattern and the output z. Shapes are
those of headlab/core/ops/attention.h, with two blocks of keys and values for four heads.

    python3 tests/golden/make_attention_functions.py
"""
import json
import pathlib

import numpy as np

B, T, H, G, D, DV = 2, 6, 4, 2, 3, 2
KV_HEAD = [0, 0, 1, 1]


def visible_keys(case):
    t, s = np.arange(T)[:, None], np.arange(T)[None, :]
    sees = np.ones((B, T, T), bool)
    if case["causal"]:
        sees &= s <= t
    if case["window"]:
        sees &= abs(t - s) < case["window"]
    if case["lengths"]:
        sees &= s < np.array(case["lengths"])[:, None, None]
    return sees[:, None]  # [B, 1, T, S]


def softmax(scores, sees):
    e = np.exp(scores) * sees
    return e / np.maximum(e.sum(-1, keepdims=True), 1e-300)


def softmax_one(scores, sees):
    e = np.exp(scores) * sees
    return e / (1 + e.sum(-1, keepdims=True))


def sigmoid(scores, sees):
    n = np.maximum(1, sees.sum(-1, keepdims=True))
    return sees / (1 + np.exp(-(scores - np.log(n))))


FUNCTIONS = {"softmax": softmax, "softmax_composed": softmax, "sigmoid": sigmoid,
             "softmax_one": softmax_one}


def attention(q, k, v, case, weigh):
    by_head = lambda x, n: x.reshape(B, T, n, -1).transpose(0, 2, 1, 3)
    q, k, v = by_head(q, H), by_head(k, G)[:, KV_HEAD], by_head(v, G)[:, KV_HEAD]
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(D)
    if case["alibi"]:
        slopes = 2.0 ** (-8 * np.arange(1, H + 1) / H)
        distance = abs(np.arange(T)[:, None] - np.arange(T)[None, :])
        scores = scores - slopes[:, None, None] * distance
    weights = weigh(scores, visible_keys(case))
    z = (weights @ v).transpose(0, 2, 1, 3).reshape(B, T, H * DV)
    return weights, z


def rounded(x):
    return [float(f"{value:.9g}") for value in np.ravel(x)]


def main():
    random = np.random.default_rng(7)
    cases = []
    for name, causal, window, lengths, alibi in [
            ("all keys", False, 0, [], False), ("causal", True, 0, [], False),
            ("window", True, 3, [], False), ("lengths", False, 0, [6, 2], False),
            ("alibi", True, 0, [], True), ("alibi, both sides", False, 4, [5, 6], True)]:
        case = {"name": name, "causal": causal, "window": window, "lengths": lengths,
                "alibi": alibi}
        q, k, v = (random.uniform(-2, 2, (B, T, n)).astype(np.float32)
                   for n in (H * D, G * D, G * DV))
        case.update(q=rounded(q), k=rounded(k), v=rounded(v), functions={})
        for function, weigh in FUNCTIONS.items():
            pattern, z = attention(*(x.astype(float) for x in (q, k, v)), case, weigh)
            case["functions"][function] = {"pattern": rounded(pattern), "z": rounded(z)}
        cases.append(case)
    path = pathlib.Path(__file__).with_name("attention_functions.json")
    lines = ",\n".join(json.dumps(case) for case in cases)  # a line for each case
    path.write_text(f'{{"cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()

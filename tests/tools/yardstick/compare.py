#!/usr/bin/env python3
"""Training steps of headlab compared with those of a current PyTorch, in turn on one machine.

For each configuration and number of threads: the ratio of PyTorch's median step to headlab's over
rounds in turn (median, lowest and highest), both times, headlab's share of the measured FMA peak,
and the setting with which PyTorch was fastest. A step is forward, cross-entropy, backward, clipping
to norm 1 and AdamW in fp32 on random tokens. PyTorch runs eager, with scaled_dot_product_attention
and fused AdamW. Each setting of settings() runs in a process of its own, and the fastest of a round
counts; with --compile, torch.compile is another one.

usage: YARDSTICK=build/yardstick compare.py [--threads 1,2] [--rounds 3] [--forward] [--compile]
                                            [--configs relations,induction,toy,char,medium,long,gpt2]
compare.sh runs this in a Debian 13 root, whose PyTorch is 2.6.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

OLDEST = (2, 4)  # fused AdamW on CPUs; older versions would make every ratio too good

# layers, heads, d_model, d_ff, T, B, vocab, targets of a token: the recommended sizes of the task, or
# kConfigs in src/lab/bench/sizes.cc
CONFIGS = {
    "relations": (1, 4, 64, 0, 16, 64, 16, 4),
    "induction": (2, 1, 64, 0, 40, 64, 32, 1),
    "toy": (2, 4, 64, 256, 32, 64, 64, 1),
    "char": (4, 4, 128, 512, 64, 12, 65, 1),
    "medium": (6, 6, 384, 1536, 256, 4, 65, 1),
    "long": (2, 4, 128, 512, 1024, 4, 65, 1),
    "gpt2": (12, 12, 768, 3072, 64, 4, 50257, 1),
}
STEPS = {"relations": 200, "induction": 100, "toy": 60, "char": 40, "medium": 6, "long": 12, "gpt2": 3}


class Block(nn.Module):
    def __init__(self, d, heads, d_ff):
        super().__init__()
        self.heads = heads
        self.ln1 = nn.LayerNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.has_network = d_ff > 0
        if self.has_network:
            self.ln2 = nn.LayerNorm(d)
            self.up, self.down = nn.Linear(d, d_ff), nn.Linear(d_ff, d)

    def forward(self, x):
        B, T, d = x.shape
        parts = self.qkv(self.ln1(x)).split(d, 2)
        q, k, v = (part.view(B, T, self.heads, -1).transpose(1, 2) for part in parts)
        z = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(z.transpose(1, 2).reshape(B, T, d))
        if not self.has_network:
            return x
        return x + self.down(F.gelu(self.up(self.ln2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, layers, heads, d, d_ff, T, vocab, targets):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, d), nn.Embedding(T, d)
        self.blocks = nn.ModuleList(Block(d, heads, d_ff) for _ in range(layers))
        self.ln, self.unembed = nn.LayerNorm(d), nn.Linear(d, vocab * targets, bias=False)
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, x):
        h = self.tok(x) + self.pos(torch.arange(x.shape[1]))
        for block in self.blocks:
            h = block(h)
        return self.unembed(self.ln(h))


def median_ms_here(config, threads, compiled, forward):
    """The median step of PyTorch in this process."""
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    layers, heads, d, d_ff, T, B, vocab, targets = CONFIGS[config]
    model = GPT(layers, heads, d, d_ff, T, vocab, targets)
    run = torch.compile(model) if compiled else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    x, y = torch.randint(vocab, (B, T)), torch.randint(vocab, (B, T, targets))

    def step():
        loss = F.cross_entropy(run(x).view(-1, vocab), y.view(-1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    def forward_pass():
        with torch.no_grad():
            run(x)

    work = forward_pass if forward else step
    times = []
    for i in range(STEPS[config] + 2):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times[2:]) * 1e3


def settings(threads, compiled):
    """The settings to try, by name: each BLAS that is installed, in its environment.

    The pthread build of OpenBLAS starts threads of its own next to those of PyTorch, so it is tried
    with one thread only.
    """
    folder = f"/usr/lib/{os.uname().machine}-linux-gnu/openblas-"
    libraries = {
        f"OpenBLAS ({build})": {"LD_LIBRARY_PATH": folder + build}
        for build in ("openmp", "pthread")
        if os.path.isdir(folder + build) and (threads == 1 or build == "openmp")
    }
    if not libraries or torch.backends.mkl.is_available():
        libraries = {"MKL" if torch.backends.mkl.is_available() else "default BLAS": {}}
    tried = {}
    for name, environment in libraries.items():
        for bound in (["free"] if threads == 1 else ["free", "bound to cores"]):
            places = {"OMP_PROC_BIND": "true", "OMP_PLACES": "cores"} if bound != "free" else {}
            for mode in ["eager"] + ["compiled"] * compiled:
                full = {**environment, **places, "OMP_NUM_THREADS": str(threads)}
                tried[f"{name}, threads {bound}, {mode}"] = full
    return tried


def theirs(config, threads, options):
    """The fastest setting: (ms, its name)."""
    found = []
    for name, environment in settings(threads, options.compile).items():
        words = [sys.executable, __file__, "--worker", config, "--threads", str(threads)]
        words += ["--forward"] * options.forward + ["--compile"] * name.endswith("compiled")
        done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, **environment})
        if done.returncode:
            sys.exit(f"PyTorch failed with {name}:\n{done.stderr}")
        found.append((float(done.stdout.split()[-1]), name))
    return min(found)


def ours(config, threads, options):
    """headlab's (ms, share of the FMA peak)."""
    words = [os.environ["YARDSTICK"], "forward" if options.forward else "step"]
    words += ["--config", config, "--threads", str(threads), "--steps", str(STEPS[config]), "--json"]
    found = json.loads(subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return found["median_ms"], found["fraction_of_peak"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--threads", default="1,2")
    p.add_argument("--configs", default=",".join(CONFIGS))
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--forward", action="store_true")
    p.add_argument("--compile", action="store_true")
    p.add_argument("--worker", help=argparse.SUPPRESS)
    options = p.parse_args()
    if options.worker:
        print(median_ms_here(options.worker, int(options.threads), options.compile, options.forward))
        return
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if version < OLDEST:
        sys.exit(f"cannot compare with PyTorch {torch.__version__}: it has no fused AdamW on CPUs\n"
                 "hint: run compare.sh, which installs a current version in a root of its own")
    if "YARDSTICK" not in os.environ:
        sys.exit("cannot find yardstick: YARDSTICK is not set\nhint: set it to the path of the program")
    counts = [int(count) for count in options.threads.split(",")]
    print("PyTorch", torch.__version__, torch.backends.cpu.get_cpu_capability())
    for threads in counts:
        print(f"tried with {threads} threads:", "; ".join(settings(threads, options.compile)), flush=True)
    for config in options.configs.split(","):
        for threads in counts:
            rows = []
            for _ in range(options.rounds):
                ms, share = ours(config, threads, options)
                their_ms, name = theirs(config, threads, options)
                rows.append((their_ms / ms, ms, their_ms, share, name))
            rows.sort()
            ratio = rows[len(rows) // 2]
            middle = [statistics.median(row[i] for row in rows) for i in (1, 2, 3)]
            print(f"{config:9}{threads:3} threads  {ratio[0]:.2f} times as fast ({rows[0][0]:.2f} to "
                  f"{rows[-1][0]:.2f})  headlab {middle[0]:.2f} ms ({100 * middle[2]:.0f}% of peak)  "
                  f"PyTorch {middle[1]:.2f} ms ({ratio[4]})", flush=True)


if __name__ == "__main__":
    main()

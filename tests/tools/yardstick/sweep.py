#!/usr/bin/env python3
"""The models of a sweep, trained by PyTorch: what `headlab sweep --task relations --heads 1,2,4
--seeds 20` is compared with.

Each model is a decoder with one attention layer and no feed-forward network; a step is a fresh batch
of 64 sequences, cross-entropy of four targets a token, backward, clipping and fused AdamW. Targets
are the tokens 1, 2 and 3 back and the last earlier token of the same class (its number modulo 4).
After training a model is evaluated on 512 sequences. Heads are not scored, and no files are written.
Prints the seconds of the whole script and the mean accuracy for each number of heads.

usage: sweep.py [--jobs 1] [--heads 1,2,4] [--seeds 20] [--steps 1000]
It runs where compare.py runs: PyTorch 2.4 or newer.
"""
import argparse
import multiprocessing
import statistics
import time

import torch
import torch.nn.functional as F

from compare import GPT

LENGTH, VOCAB, CLASSES, WIDTH, BATCH = 16, 16, 4, 64, 64
IGNORED = -100


def batch_of(count, random):
    """Tokens [count, LENGTH] and targets [count, LENGTH, 4]; IGNORED where no key exists."""
    x = torch.randint(VOCAB, (count, LENGTH), generator=random)
    y = torch.full((count, LENGTH, 4), IGNORED)
    for back in (1, 2, 3):
        y[:, back:, back - 1] = x[:, :-back]
    kind = x % CLASSES
    earlier = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril(-1)
    same = (kind[:, :, None] == kind[:, None, :]) & earlier
    last = (same * torch.arange(1, LENGTH + 1)).amax(2)  # 0: there is none
    found = x.gather(1, (last - 1).clamp(min=0))
    y[:, :, 3] = torch.where(last > 0, found, IGNORED)
    return x, y


def train(cell):
    """The accuracy of one model."""
    heads, seed, steps = cell
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    random = torch.Generator().manual_seed(seed)
    model = GPT(1, heads, WIDTH, 0, LENGTH, VOCAB, 4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, fused=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        x, y = batch_of(BATCH, random)
        loss = F.cross_entropy(model(x).view(-1, VOCAB), y.view(-1), ignore_index=IGNORED)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        x, y = batch_of(512, random)
        right = model(x).view(*y.shape, VOCAB).argmax(-1) == y
        return right[y != IGNORED].float().mean().item()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--heads", default="1,2,4")
    p.add_argument("--seeds", type=int, default=20)
    p.add_argument("--steps", type=int, default=1000)
    options = p.parse_args()
    heads = [int(count) for count in options.heads.split(",")]
    cells = [(count, seed, options.steps) for count in heads for seed in range(options.seeds)]
    begin = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        accuracies = pool.map(train, cells, chunksize=1)
    seconds = time.perf_counter() - begin
    for i, count in enumerate(heads):
        part = accuracies[i * options.seeds : (i + 1) * options.seeds]
        print(f"{count} heads: accuracy {statistics.mean(part):.3f}")
    print(f"{len(cells)} models, {options.steps} steps, {options.jobs} jobs: {seconds:.1f} s")


if __name__ == "__main__":
    main()

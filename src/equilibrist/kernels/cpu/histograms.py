"""Histograms of a hand over clusters of the next street, packed into one word.

A histogram of K counts is Σ count[k] · 2^(bits · k) in 64 bits. Equal histograms are equal words,
so 84 million hands on turns become a few hundred thousand different points by sorting words.
A hand that the board blocks has no counts: the word 0.
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.cpu.rollout import interval
from equilibrist.kernels.cpu.team import threaded
from equilibrist.kernels.parts import kernel


@threaded(lambda labels, child, *_: len(child), grain=4)
def pack_labels(begin, end, labels, child, renaming, renamed, bits, out):
    """Write into `out` [B, H] uint64 the histograms over `labels` [children, H], −1 if blocked."""
    one = np.uint64(1)
    for b in range(begin, end):
        out[b] = 0
        for d in range(child.shape[1]):
            row, image = labels[child[b, d]], renamed[renaming[b, d]]
            for h in range(labels.shape[1]):
                label = row[image[h]]
                if label >= 0:
                    out[b, h] += one << np.uint64(bits * label)


@threaded(lambda values, links, *_: len(links[0]), grain=4)
def pack_intervals(begin, end, values, links, parents, cut, bits, out):
    """Write into `out` [B, H] uint64 the histograms over intervals of the next street's values.

    `links` are the (child, renaming, renamed) of `pack_labels`; `parents` [B, H] select the
    intervals; `cut` is (first, lower) as in `label_values`.
    """
    child, renaming, renamed = links
    first, lower = cut
    one = np.uint64(1)
    for b in range(begin, end):
        out[b] = 0
        for d in range(child.shape[1]):
            row, image = values[child[b, d]], renamed[renaming[b, d]]
            for h in range(parents.shape[1]):
                value, parent = row[image[h]], parents[b, h]
                if value >= 0 and parent >= 0:
                    place = interval(first, lower, parent, value) - first[parent]
                    out[b, h] += one << np.uint64(bits * place)


@kernel
def unpack(words, bits, out):
    """Write into `out` [N, K] the counts of `words` [N] uint64."""
    mask = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    for n in range(len(words)):
        for k in range(out.shape[1]):
            out[n, k] = (words[n] >> np.uint64(bits * k)) & mask

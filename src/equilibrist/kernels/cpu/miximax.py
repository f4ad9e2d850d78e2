"""Search of a betting tree against known probabilities: one pass from the leaves to a node."""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.parts import kernel


@kernel
def fold_up_mixed(child, player, own, nodes, probabilities, warmth, values):
    """Write into `values` [V] the value of each of `nodes` [N] to player `own`.

    Nodes come after their parents; the values of their children outside `nodes` are given. `child`
    [V, A] is V where there is no action; where nobody decides (`player` [V] is −1) the only child
    counts. At decisions of the opponent, values are weighted by `probabilities` [N, A]; at
    own ones the best is taken or, with positive `warmth`, they are weighted by e^(value / warmth).
    """
    num_nodes, num_actions = child.shape
    for n in range(len(nodes) - 1, -1, -1):
        v = nodes[n]
        best = -np.inf
        for a in range(num_actions):
            if child[v, a] < num_nodes:
                best = max(best, values[child[v, a]])
        if player[v] == 1 - own or (player[v] == own and warmth > 0):
            mixed, total = 0.0, 0.0
            for a in range(num_actions):
                if child[v, a] < num_nodes:
                    value = values[child[v, a]]
                    share = probabilities[n, a]
                    if player[v] == own:
                        share = np.exp((value - best) / warmth)
                    mixed += share * value
                    total += share
            values[v] = mixed / total
        else:
            values[v] = best

"""What tests of split games share: continuing a stored run, and comparing runs to the bit."""

import numpy as np

from equilibrist.solving.solve import Budget, solve


def go_on(stored, iterations):
    """Continue a stored run up to a number of iterations, and store it."""
    trunk = stored.split.trunk
    return solve(
        trunk, stored.solver, Budget(iterations=iterations), run=stored.run(), save=stored.save
    )


def assert_same(run, other):
    """Check that two runs have the same state and the same evaluation."""
    for name, array in run.state.items():
        np.testing.assert_array_equal(array, other.state[name], err_msg=name)
    assert run.evaluation == other.evaluation

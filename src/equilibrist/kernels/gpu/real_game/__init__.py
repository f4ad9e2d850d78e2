"""Best responses in the real game, to all betting of a round at once, on many boards.

The kernels compute what `kernels/cpu/real_game.py` describes, and the same numbers to the last bit:
units on the river are whole numbers, products are not fused with the sums that follow them, and
sums are in the order of the CPU. `hands` sorts the hands of boards, `lanes` holds the opponent's
probabilities, `last_round` and `earlier_rounds` respond by `folds`, and `batch` launches them all.
"""

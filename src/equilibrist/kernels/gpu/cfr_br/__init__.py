"""Gradients of strategies of buckets against best responses in the real game, on the GPU.

On a river, what every hand wins from all rows of a plan is a product of two matrices: the plan's
rows by the buckets that occur on the board, and these buckets by the hands (`lists.build_matrix`).
The gradient is the product with the transpose. cuBLAS multiplies; the other kernels find the
responder's choices, from the rivers to the flop, and carry his reach down again.
"""

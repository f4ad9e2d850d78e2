"""Numba kernels for the CPU, under the names of `kernels/reference` where both compute the same.

The index of deals has no namesake there: the reference only tells deals apart, by brute force over
all renamings of the suits. Neither have the pieces that other kernels are built from.
"""

"""Numba kernels for the CPU, named like those of `kernels/reference` that compute the same thing.

The index of deals has no counterpart there: the reference only distinguishes deals, by brute force
over all renamings of the suits. The building blocks of other kernels have none either.
"""

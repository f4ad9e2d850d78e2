"""Numba kernels for the CPU, under the names of `kernels/reference`."""

"""CUDA kernels by numba-cuda, and products of matrices by CuPy, under the names of `cpu/`.

A machine without a GPU imports nothing from here: `device.py` finds the GPU, or says in one
sentence what is missing. Numba's simulator (`NUMBA_ENABLE_CUDASIM=1`) runs the kernels without a
GPU, slowly, for tests. See docs/decisions/0009.
"""

"""Kernels: fast compiled functions on arrays, and plain reference versions that define the results.

`reference/` holds vectorised array programs that define the correct results; `cpu/` holds Numba
kernels, under the same name where both compute the same thing. Only tests and benchmarks import
`reference/`. `deal_tables.py` and `rank_tables.py` build the lookup tables of every backend,
`array_structs.py` declares them, and `treeplex.py` gives access to the parts of a treeplex.
`cache.py` decides where compiled code is stored, and runs before any kernel is defined;
`compiling.py` reduces the time that Numba needs to compile them.
"""

from equilibrist.kernels import cache, compiling

cache.use_fingerprinted_folder()
compiling.compile_faster()

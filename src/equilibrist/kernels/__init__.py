"""Arrays in, arrays out: the code that must be fast, and the plain code that says what it means.

`reference/` holds vectorised array programs, the truth; `cpu/` holds Numba kernels, under the same
name where both compute the same thing. `deal_tables.py` and `rank_tables.py` build the tables that
every backend looks things up in, `layout.py` declares them. `cache.py` decides where compiled code
is kept, and runs before any kernel is defined; `compiling.py` lets Numba compile them faster.
"""

from equilibrist.kernels import cache, compiling

cache.use_fingerprinted_folder()
compiling.compile_faster()

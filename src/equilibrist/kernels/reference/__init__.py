"""Vectorised array programs that a reader can verify: the truth the fast kernels are held to."""

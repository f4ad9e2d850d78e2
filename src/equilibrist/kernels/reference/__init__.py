"""Reference kernels: array programs that a reader can verify and that fast kernels must match."""

"""Compiled kernels that only EctomynX uses."""

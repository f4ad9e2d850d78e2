"""Compiled kernels used only by EctomynX."""

"""Reference versions of EctomynX's kernels, used by tests."""

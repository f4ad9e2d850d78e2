"""Solvers: each a short file over the same gradient and fold-up."""

"""Solvers: each a short file that uses the same gradient and fold-up."""

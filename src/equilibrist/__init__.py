"""Equilibrist: an open laboratory for heads-up poker."""

__version__ = "0.1.0.dev0"

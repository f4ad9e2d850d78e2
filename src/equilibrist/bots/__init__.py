"""Bots: their registry, their folders, their training, and strategies by name."""

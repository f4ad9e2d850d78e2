"""Strategies as nouns: what solving produces, and the forms other programs read."""

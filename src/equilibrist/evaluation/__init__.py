"""Evaluation of play: statistics of matches, exact expectations, variance reduction."""

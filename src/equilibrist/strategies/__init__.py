"""Strategies: the results of solving, and their forms for play and for other programs."""

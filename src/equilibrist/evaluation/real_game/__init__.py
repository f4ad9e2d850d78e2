"""Exact best responses to a strategy in limit hold'em itself."""

"""Games as solvers see them: two treeplexes, their leaves, and builders from rules."""

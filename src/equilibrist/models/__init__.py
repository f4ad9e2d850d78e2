"""Games in the form that solvers use: two treeplexes, their leaves, and builders from rules."""

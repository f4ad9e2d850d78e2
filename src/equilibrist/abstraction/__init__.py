"""Card abstraction: features of hands, and recipes that group hands into buckets."""

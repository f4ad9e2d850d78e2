"""What play says of players: statistics of matches, exact expectations, variance reduction."""

"""What the best opponent wins from a strategy in limit hold'em itself."""

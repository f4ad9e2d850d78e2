"""Rules, betting, hands, dealing and text forms of the games."""

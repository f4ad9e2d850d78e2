"""Players: static, rule-based and adaptive ones, and players that follow a stored strategy."""

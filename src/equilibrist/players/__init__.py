"""Who sits at a table: static, rule-based, adaptive players, and strategies that play."""

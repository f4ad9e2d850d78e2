"""Cards, hands, ranges, ranking, suit isomorphism and equity."""

"""Playing hands, matches and tournaments, in process, over a network or with a person."""

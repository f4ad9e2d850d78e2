"""From many hands to few buckets: what hands are like, and which of them to take for one."""

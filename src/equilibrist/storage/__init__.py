"""Arrays and what is known of them, kept on disk: atomic, checksummed, memory-mapped."""

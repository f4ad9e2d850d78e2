"""Arrays and their metadata on disk: written atomically, checksummed, memory-mapped."""

"""The papers' ways to put hands into buckets, one file each."""

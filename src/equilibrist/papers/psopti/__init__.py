"""PsOpti (2003): models of some rounds, composed into players."""

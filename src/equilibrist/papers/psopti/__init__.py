"""PsOpti (2003): models of some rounds, glued into players."""

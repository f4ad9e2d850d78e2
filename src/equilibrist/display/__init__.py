"""Pictures and grids for terminals, files and notebooks."""

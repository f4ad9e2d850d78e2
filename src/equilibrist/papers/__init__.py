"""One package per paper: builds its system and compares its published tables with ours."""

"""One module a paper: builds its system and prints its published table beside ours."""

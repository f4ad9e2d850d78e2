"""`python -m equilibrist` is the command `equilibrist`."""

from equilibrist.cli import main

main()

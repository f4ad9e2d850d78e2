"""Draw the pictures of the documents again, each by one command, in about a minute.

Run: make pictures, or python examples/make_pictures.py
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image  # comes with matplotlib

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
LARGEST = 100_000  # bytes of a picture, so that the repository stays small

# One command per line; {here} is the folder of the pictures. Solved spots go to a temporary folder.
COMMANDS = """
spot --board Td9d6hQc --oop QQ+,AK,T9s --ip 88-22,AQ,JTs --pot 200 --stack 900 \
    --bets 60%,a --raises 2.5x --to 0.3% --out turn
spot turn --plot {here}/turn.png
spot turn --node cr120 --plot {here}/turn-cr120.png
compare leduc --methods cfr,cfr+,dcfr,egt --seconds 2 --plot {here}/leduc.png
match poki always-call --hands 400 --matches 5 --seed 7 --plot {here}/match.png
"""


def main() -> None:
    """Run every command; reduce each picture to 64 colours and check its size."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        for line in COMMANDS.replace("\\\n", "").strip().splitlines():
            words = shlex.split(line.format(here=PICTURES))
            print("equilibrist", shlex.join(shlex.split(line.format(here="docs/pictures"))))
            program = [sys.executable, "-m", "equilibrist", *words]
            done = subprocess.run(program, cwd=work, capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
    for picture in sorted(PICTURES.glob("*.png")):
        Image.open(picture).convert("RGB").quantize(64).save(picture, optimize=True)
        size = picture.stat().st_size
        print(f"{picture.name:20} {size:>8,} bytes")
        if size > LARGEST:
            sys.exit(f"{picture.name} is larger than {LARGEST:,} bytes")


if __name__ == "__main__":
    main()

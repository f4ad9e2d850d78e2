"""Draw the pictures of the documents again, each by one command, in about three minutes.

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
spot --board Kh8d3c5s --pot 60 --stack 470 --bets 50%,100% --raises 3x --to 0.5% --out turn \
    --oop 22-TT,A2s-AJs,K8s-KQs,Q9s-QJs,J8s+,T8s+,97s+,86s+,75s+,64s+,53s+,\
ATo-AJo,KTo-KQo,QTo+,JTo \
    --ip 22+,A2s+,K7s+,Q8s+,J8s+,T8s+,97s+,86s+,75s+,65s,54s,A8o+,KTo+,QTo+,JTo
spot turn --node c --plot {here}/turn.png
flops --flops 12 --oop 22-TT,A2s-AJs,KTs+,QTs+,JTs,T9s,98s --ip 22+,A5s+,KTs+,QJs,AJo+ --pot 60 \
    --stack 200 --bets '50% / a / a' --raises a --to 1% --out study
flops study --node c --plot {here}/flops.png
compare leduc --methods cfr,cfr+,dcfr,egt --seconds 2 --plot {here}/leduc.png
counter mix:0.3,0.5,0.2 --game leduc --curve 0,0.3,0.6,0.9,0.97,1 --plot {here}/counter-leduc.png
match poki always-call --hands 400 --matches 5 --seed 7 --plot {here}/match.png
"""


def main() -> None:
    """Run every command; reduce each picture to 64 colours and check its size."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        for line in COMMANDS.strip().splitlines():
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

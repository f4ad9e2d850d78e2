"""The package as a whole."""

import subprocess
import sys


def test_other_systems_are_refused_by_one_sentence():
    program = "import os; os.name = 'nt'; import equilibrist"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.returncode == 1
    assert "ImportError: Equilibrist needs the file locks of" in found.stderr.splitlines()[-1]

"""Names of tables and jobs: random letters that cannot be guessed and are safe in a path."""

from __future__ import annotations

import re
import secrets

_LETTERS = "bfgjkmnpqrvwxyz"  # no letter or digit of a card, and no vowels
_LENGTH = 20  # 78 bits
_IDENTITY = re.compile(f"[{_LETTERS}]{{{_LENGTH}}}")


def new_identity() -> str:
    """Return a new name."""
    return "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))


def is_identity(text: str) -> bool:
    """Return whether a text could be a name from `new_identity`."""
    return _IDENTITY.fullmatch(text) is not None

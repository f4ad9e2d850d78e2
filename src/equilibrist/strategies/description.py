"""Descriptions of games in readable text: enough to build the game of a solution again.

An exact game is described by its rules, bet menu and symmetry. A game of buckets is described by
the folders of its abstraction, of its joint counts and, if it leaves rounds out, of its ends, and
by their hashes: the contents found there later must be the same. A model of some rounds also states
where it starts, with what pot and what beliefs, and how it ends.
"""

from __future__ import annotations

import dataclasses
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equilibrist.abstraction import joint_counts as joint
from equilibrist.abstraction.bucket_tree import BucketTree
from equilibrist.abstraction.buckets import KIND, Abstraction
from equilibrist.abstraction.conditioning import LaterClasses, Priors, conditioned
from equilibrist.abstraction.joint_counts import Joint
from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.games.bet_menu import MENU_FIELDS, BetMenu, StoredMenu
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.rules import UNLIMITED_STACK, GameRules, parse_rules, rules_text
from equilibrist.models import endings
from equilibrist.models.bucketed import bucket_game, bucket_name
from equilibrist.models.card_states import SYMMETRIES, Symmetry
from equilibrist.models.exact import check_exact, exact_game
from equilibrist.models.game import SequenceGame
from equilibrist.models.treeplex import player_rows
from equilibrist.storage.artefact import read_identity
from equilibrist.storage.schema import Fields

_MOST_MENU = 100_000  # characters of bet sizes or raise caps
_FOLDERS = ("abstraction", "joint", "ends")


@dataclass(frozen=True, kw_only=True)
class GameDescription(StoredMenu):
    """Description from which an exact game is built again.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> description = GameDescription.of(exact_game(get_game("leduc")))
        >>> description.symmetry, description.build().lengths
        ('ranks', (384, 384))
    """

    name: str
    rules: str  # an ACPC game definition
    symmetry: Symmetry
    leaves: str  # dense or sorted

    @classmethod
    def of(cls, game: SequenceGame) -> GameDescription:
        """Describe a game that `exact_game` built; raise `InvalidValueError` for any other."""
        betting, states = game.betting, game.states
        if betting is None or states is None:
            raise InvalidValueError(
                f"{game.name} was not built from rules, so it cannot be stored as text",
                value=game.name,
            )
        if any(tree.locked.any() for tree in game.trees):
            raise InvalidValueError(
                f"{game.name} has locked decisions, which cannot be stored as text", value=game.name
            )
        return cls(
            name=game.name,
            rules=rules_text(betting.rules),
            symmetry=states.symmetry,
            leaves="sorted" if game.pairs.is_sorted else "dense",
            **betting.menu.texts(),
        )

    def check_length(self, length: int) -> None:
        """Raise `InvalidValueError` if plans of the game are much longer than `length` in all.

        Only counts are taken, and few of those: rules that a stranger wrote may be of a game that
        no machine can build.
        """
        rules = parse_rules(self.rules, self.name)
        check_exact(rules)
        most = 2 * length + 10_000
        most_nodes = 2 * most  # all but the first and those of chance end a sequence of a plan
        try:
            betting = BettingTree.build(rules, self.menu.clipped(rules), most_nodes=most_nodes)
        except InvalidValueError as error:
            if error.value != most_nodes:
                raise
            least = most + 1
        else:
            rows = [player_rows(betting, player).num_sequences.tolist() for player in (0, 1)]
            states = [_least_states(rules, self.symmetry, r) for r in range(rules.num_rounds)]
            least = sum((a + b) * n for a, b, n in zip(*rows, states, strict=True))
        if least > most:
            raise InvalidValueError(
                f"the plans have {length:,} numbers, but those of the game that is described have "
                f"more than {most:,}: they were made for another game than {self.name}",
                value=length,
            )

    def build(self) -> SequenceGame:
        """Build the game described."""
        rules = parse_rules(self.rules, self.name)
        menu = self.menu.clipped(rules)
        return exact_game(rules, menu, symmetry=self.symmetry, leaves=self.leaves)


@dataclass(frozen=True)
class ModelRounds:
    """The rounds that a model of buckets plays, and what stands for those left out at the end."""

    first: int = 0
    last: int | None = None  # None: the last round of the game
    pot: int | None = None  # chips when the first round opens; None: the blinds or antes
    ends: Path | None = None  # folder of the values of hands after the last (`endings.PlayedOut`)
    bet: float = 0.0  # without ends: chips that each player adds before a showdown


_ALL_ROUNDS = ModelRounds()


@dataclass(frozen=True, kw_only=True)
class BucketDescription(StoredMenu):
    """Description from which a game of buckets is built again; players share the buckets."""

    name: str
    abstraction: Path  # folders
    joint: Path
    hashes: tuple[str, ...]  # hashes of their contents
    ends: Path | None = None  # folder of the values of hands where rounds are left out
    last_round: int | None = None  # last round played; None: all
    bet: float = 0.0  # chips that each player adds in the rounds left out at the end, without ends
    first_round: int = 0  # first round played
    pot: int | None = None  # chips when it opens; None: the blinds or antes
    priors: Priors | None = None  # weights of first buckets, which are then forgotten

    @classmethod
    def of(
        cls,
        abstraction: Path,
        counts: Path,
        menu: BetMenu,
        rounds: ModelRounds = _ALL_ROUNDS,
        priors: Priors | None = None,
    ) -> BucketDescription:
        """Describe the game of two folders; the counts must be those of the abstraction."""
        hashes: tuple[str, ...] = (
            read_identity(abstraction, KIND).hash,
            read_identity(counts, joint.KIND).hash,
        )
        if read_identity(counts, joint.KIND).parents != {"first": hashes[0]}:
            raise StorageError(
                f"{counts} does not count the buckets of {abstraction}", value=str(counts)
            )
        if rounds.ends is not None:
            hashes = (*hashes, read_identity(rounds.ends, endings.KIND).hash)
        opened = Abstraction.open(abstraction)
        menu.limit(opened.rules, rounds.first, rounds.last)  # raises an error if it is invalid
        buckets = _nested(opened, priors)
        return cls(
            name=bucket_name(buckets, rounds.first, rounds.last),
            abstraction=abstraction.absolute(),
            joint=counts.absolute(),
            hashes=hashes,
            **menu.texts(),
            ends=None if rounds.ends is None else rounds.ends.absolute(),
            last_round=rounds.last,
            bet=rounds.bet,
            first_round=rounds.first,
            pot=rounds.pot,
            priors=priors,
        )

    def build(self) -> SequenceGame:
        """Build the game described; `StorageError` if its folders are gone or have changed."""
        counts, buckets = Joint.open(self._checked(1)), self.open_abstraction()
        if self.priors is not None:
            counts = conditioned(buckets, counts, self.priors)
        return bucket_game(
            self.nested(buckets),
            counts,
            self.menu.clipped(buckets.rules),
            first_round=self.first_round,
            last_round=self.last_round,
            pot=self.pot,
            ending=self._ending(counts, buckets),
        )

    def nested(self, buckets: Abstraction) -> BucketTree:
        """Return the buckets of the game: those of its abstraction, or their later classes."""
        return _nested(buckets, self.priors)

    def betting(self, rules: GameRules) -> BettingTree:
        """Build the betting tree of the game."""
        return BettingTree.build(
            rules,
            self.menu.clipped(rules),
            first_round=self.first_round,
            last_round=self.last_round,
            pot=self.pot,
        )

    def _ending(self, counts: Joint, buckets: Abstraction) -> endings.Ending | None:
        if self.last_round is None:
            return None
        if self.ends is not None:
            played = endings.PlayedOut.open(self._checked(2))
            number = self.nested(buckets).num_buckets[self.last_round]
            if played.values.shape[1:] != (number, number):
                raise StorageError(
                    f"{self.ends} has other buckets: its values are "
                    f"{list(played.values.shape[1:])} per stake, not {[number, number]}",
                    value=str(self.ends),
                )
            return played
        nested = self.nested(buckets)
        return endings.Showdown.of(counts, nested, self.last_round, bet=self.bet)

    def check(self) -> None:
        """Raise `StorageError` if the folders are gone or have changed."""
        for place in range(len(self.hashes)):
            self._checked(place)

    def open_abstraction(self) -> Abstraction:
        """Open the buckets, if they are still those of the solution."""
        return Abstraction.open(self._checked(0))

    def _checked(self, place: int) -> Path:
        kind = (KIND, joint.KIND, endings.KIND)[place]
        folder = (self.abstraction, self.joint, self.ends)[place]
        assert folder is not None
        found = read_identity(folder, kind).hash
        if found != self.hashes[place]:
            raise StorageError(
                f"{folder} has changed since {self.name} was solved: its hash is {found[:12]}, not "
                f"{self.hashes[place][:12]}; restore the folder, or solve again",
                value=str(folder),
            )
        return folder


Description = GameDescription | BucketDescription


def write_description(game: Description, folder: Path) -> dict[str, Any]:
    """Return the description as JSON for a manifest in `folder`; paths are relative to it."""
    text = game.as_data()
    if isinstance(game, BucketDescription):
        for name in _FOLDERS:
            if text[name] is not None:
                text[name] = os.path.relpath(text[name], folder.absolute())
    return text


def read_description(fields: Fields, folder: Path) -> Description:
    """Read a description of `write_description`; `StorageError` for anything else."""
    kind = BucketDescription if "abstraction" in fields else GameDescription
    known = {field.name for field in dataclasses.fields(kind)}
    for name in fields.names():
        if name not in known:
            raise fields.error(name, "a field of a game")

    def menu_text(name: str) -> str | None:
        return fields.optional(name, lambda name: fields.text(name, _MOST_MENU))

    menu = {name: menu_text(name) for name in MENU_FIELDS}
    if kind is BucketDescription:
        return _read_buckets(fields, folder, menu)
    return GameDescription(
        name=fields.text("name"),
        rules=fields.lines("rules"),
        symmetry=fields.choice("symmetry", SYMMETRIES),
        leaves=fields.choice("leaves", ("dense", "sorted")),
        **menu,
    )


def _read_buckets(fields: Fields, folder: Path, menu: dict[str, str | None]) -> BucketDescription:
    """Read the description of a game of buckets, except its menu; paths start from `folder`."""
    folders = {
        name: Path(os.path.normpath(folder.absolute() / path))
        for name in _FOLDERS
        if (path := fields.optional(name, fields.path)) is not None
    }
    hashes = fields.texts("hashes")
    if len(hashes) != len(folders) or not {"abstraction", "joint"} <= set(folders):
        raise fields.error("hashes", f"{len(folders)} hashes, at least those of buckets and counts")

    def round_(name: str) -> int:
        return fields.whole(name, 0, 100)

    return BucketDescription(
        name=fields.text("name"),
        abstraction=folders["abstraction"],
        joint=folders["joint"],
        ends=folders.get("ends"),
        hashes=hashes,
        last_round=fields.optional("last_round", round_),
        bet=fields.optional("bet", lambda name: fields.number(name, 0, 1e9)) or 0.0,
        first_round=fields.optional("first_round", round_) or 0,
        pot=fields.optional("pot", lambda name: fields.whole(name, 1, 2 * UNLIMITED_STACK)),
        priors=fields.optional("priors", lambda name: _read_priors(fields, name)),
        **menu,
    )


def _read_priors(fields: Fields, name: str) -> Priors:
    rows = fields.rows(name, 0, 1e300)
    if len(rows) != 2:
        raise fields.error(name, "two lists of weights")
    return rows[0], rows[1]


def same_game(first: Description, second: Description) -> bool:
    """Return whether two descriptions are of the same game, wherever its folders are."""
    if isinstance(first, BucketDescription) and isinstance(second, BucketDescription):
        second = dataclasses.replace(
            second, abstraction=first.abstraction, joint=first.joint, ends=first.ends
        )
    return first == second


def _least_states(rules: GameRules, symmetry: Symmetry, r: int) -> int:
    """Return a lower bound on the deals that a player can distinguish in a round."""
    if rules.rollout_cards:
        return 169  # pairs, suited and offsuit hands
    hole, board = rules.num_hole_cards, rules.board_cards_by(r)
    deals = math.comb(len(rules.deck), hole)
    left = len(rules.deck) - hole
    for number in rules.num_board_cards[: r + 1]:
        deals, left = deals * math.comb(left, number), left - number
    suits = rules.num_suits
    alike = {"cards": 1, "suits": math.factorial(suits), "ranks": suits ** (hole + board)}
    return deals // alike[symmetry]


def _nested(buckets: Abstraction, priors: Priors | None) -> BucketTree:
    return buckets if priors is None else LaterClasses.of(buckets)

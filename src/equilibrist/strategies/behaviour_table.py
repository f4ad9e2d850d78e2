"""Tables of a plan's behaviour at one node: hands × actions."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import cards_name, parse_cards
from equilibrist.errors import CardError, InvalidValueError
from equilibrist.games.action import action_name
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.rules import GameRules
from equilibrist.kernels.array_structs import Treeplex
from equilibrist.kernels.decision_rules import regret_matching
from equilibrist.kernels.treeplex import block
from equilibrist.models.card_states import CardStates
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.treeplex import player_rows


@dataclass(frozen=True, eq=False, repr=False)
class BehaviourTable:
    """Behaviour at a node: H hands (states of the cards, one of their hands each) × A actions.

    Example:
        >>> shares = np.array([[0.964, 0.0, 0.036], [0.0, 0.084, 0.916]])
        >>> reach = np.array([0.7, 0.15])
        >>> BehaviourTable("cc/r", "Ks", 1, ("Qs ×2", "Kh"), ("f", "c", "r"), shares, reach)
        cc/r on Ks, player 1
                   f      c      r  reach
        Qs ×2  0.964  0.000  0.036  0.700
        Kh     0.000  0.084  0.916  0.150
    """

    node: str  # the betting so far
    board: str  # cards, empty before any are dealt
    player: int  # player to act
    hands: tuple[str, ...]  # such as `KhQh ×4`: four hands play alike; or `bucket 3`
    actions: tuple[str, ...]  # such as f, c and r
    probabilities: NDArray[np.float64]  # [H, A], uniform where the player never arrives
    reach: NDArray[np.float64]  # [H] probability that the player's own actions lead here

    def __repr__(self) -> str:
        head = f"{self.node or 'the first node'}{f' on {self.board}' if self.board else ''}"
        numbers = np.column_stack([self.probabilities, self.reach])
        cells = [[*self.actions, "reach"], *([f"{x:.3f}" for x in row] for row in numbers)]
        names = ["", *self.hands]
        width = max(map(len, names))
        wide = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
        lines = (
            "  ".join([name.ljust(width), *map(str.rjust, row, wide)])
            for name, row in zip(names, cells, strict=True)
        )
        return "\n".join([f"{head}, player {self.player}", *lines])


def behaviour_table(
    game: SequenceGame, plans: tuple[Floats, Floats], node: str = "", board: str = ""
) -> BehaviourTable:
    """Return what the player to act at a node does with each hand.

    `node` is the betting so far (`BettingTree.parse`), `board` the cards on the table in the order
    of their rounds; any suits are accepted, and hands are named in those suits.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> game = exact_game(get_game("leduc"))
        >>> plans = tuple(game.realize(p, game.uniform(p)) for p in (0, 1))
        >>> table = behaviour_table(game, plans, "cc/r", "Ks")
        >>> table.player, table.hands, table.actions, table.reach.tolist()
        (1, ('Qs ×2', 'Kh', 'As ×2'), ('f', 'c', 'r'), [0.5, 0.5, 0.5])
    """
    betting, states = game.betting, game.states
    if betting is None:
        raise InvalidValueError(f"{game.name} has no betting tree", value=game.name)
    v = betting.parse(node)
    if betting.kind[v] != NodeKind.DECISION:
        raise no_decision(betting, v)
    player = int(betting.player[v])
    r = int(betting.round[v]) - betting.first_round
    asked: tuple[int, ...] = ()
    if states is None:
        if board.strip():
            raise CardError(f"{game.name} has buckets instead of cards", value=board)
        width = int(game.trees[player].num_states[int(game.trees[player].board_start[r])])
        b, hands = 0, tuple(f"bucket {bucket}" for bucket in range(width))
    else:
        b, asked, renaming = find_board(betting.rules, states, r, board)
        hands = tuple(_renamed(name, renaming) for name in states.names(r, b))
    d = int(player_rows(betting, player).decision[v])
    probabilities, reach = _decide(game.trees[player], r, b, d, plans[player])
    actions = (betting.action(child) for child in betting.children(v))
    return BehaviourTable(
        node=betting.name(v),
        board=cards_name(asked),
        player=player,
        hands=hands,
        actions=tuple(action_name(action) for action in actions if action is not None),
        probabilities=probabilities,
        reach=reach,
    )


def _decide(
    tree: Treeplex, r: int, b: int, d: int, plan: Floats
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return probabilities [H, A] and reach [H] of decision `d` on the b-th board of round `r`."""
    own = block(tree, r, int(tree.board_start[r]) + b, plan)
    first, size = int(tree.decision_first[d]), int(tree.decision_size[d])
    taken = own[first : first + size].T.astype(np.float64)
    reach = own[tree.decision_parent[d]].astype(np.float64)
    return np.where(reach[:, None] > 0, regret_matching(taken.T).T, 1 / size), reach


def find_board(
    rules: GameRules, states: CardStates, r: int, text: str, first_round: int = 0
) -> tuple[int, tuple[int, ...], NDArray[np.uint8]]:
    """Find the stored board that represents some cards; return it, those cards, and a renaming.

    Rounds `r` count from `first_round`.

    The renaming [52] maps the cards of the stored board, and of hands on it, to the cards asked
    for. An empty text means the only board of the round.
    """
    boards = states.boards[r]
    dealt = rules.num_board_cards[: first_round + r + 1]
    deals = [num_cards for num_cards in dealt if num_cards]
    identity = np.arange(52, dtype=np.uint8)
    if not text.strip() and len(boards) == 1:
        return 0, tuple(boards[0].tolist()), identity
    asked = _sorted_deals(parse_board(rules, first_round + r, text), deals)
    if states.symmetry == "ranks":
        same = (boards >> 2 == np.array(asked, np.uint8) >> 2).all(axis=1)
        b = int(np.flatnonzero(same)[0])
        return b, asked, _rank_renaming(boards[b], asked)
    for suits in states.renamings(rules.num_suits):
        renaming = identity - identity % 4 + np.array(suits, np.uint8)[identity % 4]
        stored = np.argsort(renaming)[list(asked)].tolist()
        same = (boards == _sorted_deals(stored, deals)).all(axis=1)
        if same.any():
            return int(np.flatnonzero(same)[0]), asked, renaming
    raise InvalidValueError(f"{rules.name} has no board {text!r} in round {r + 1}", value=text)


def parse_board(rules: GameRules, r: int, text: str) -> tuple[int, ...]:
    """Parse board cards of the game's deck; raise an error unless their number fits round `r`.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> parse_board(get_game("holdem-limit"), 1, "AsKd")
        Traceback (most recent call last):
          ...
        equilibrist.errors.InvalidValueError: 2 board cards are given for round 2 of holdem-limit,
        which has 3, such as 2c2d2h
    """
    asked = parse_cards(text.replace("/", " "))
    for card in asked:
        if card not in rules.deck:
            raise CardError(
                f"{cards_name([card])} is not in the deck {rules.deck.names} of {rules.name}",
                value=text,
            )
    wanted = rules.board_cards_by(r)
    if len(asked) != wanted:
        example = f", such as {cards_name(rules.deck.cards[:wanted])}" if wanted else ""
        raise InvalidValueError(
            f"{len(asked)} board cards are given for round {r + 1} of {rules.name}, "
            f"which has {wanted}{example}",
            value=text,
        )
    return asked


def _sorted_deals(cards: list[int] | tuple[int, ...], deals: list[int]) -> tuple[int, ...]:
    """Return board cards with those of each deal in ascending order, as boards are stored."""
    left = iter(cards)
    return tuple(
        itertools.chain.from_iterable(
            sorted(itertools.islice(left, num_cards)) for num_cards in deals
        )
    )


def _rank_renaming(stored: NDArray[np.uint8], asked: tuple[int, ...]) -> NDArray[np.uint8]:
    """Map cards [52] to cards of the same rank, the stored board to the one asked for."""
    renaming = np.arange(52, dtype=np.uint8)
    given = dict(zip(stored.tolist(), asked, strict=True))
    for rank in range(13):
        cards = range(4 * rank, 4 * rank + 4)
        left = [card for card in cards if card not in given.values()]
        for card in cards:
            renaming[card] = given[card] if card in given else left.pop(0)
    return renaming


def _renamed(name: str, renaming: NDArray[np.uint8]) -> str:
    """Return the name of a state in other suits."""
    hand, *count = name.split(" ")
    return " ".join([cards_name(renaming[list(parse_cards(hand))]), *count])


def no_decision(betting: BettingTree, v: int) -> InvalidValueError:
    """Return the error for a node where nobody acts, with the next decision if there is one."""
    name = betting.name(v)
    if betting.kind[v] == NodeKind.ROUND_END:
        what = f"cards are dealt after {name!r}"
        hint = f"; the next decision is {name + '/'!r}" if betting.num_children[v] else ""
    else:
        what, hint = f"the hand is over after {name!r}", ""
    return InvalidValueError(f"{what}, so nobody acts there{hint}", value=name)

"""`equilibrist games`, `games show` and `tree`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from equilibrist.cli.options import (
    AddAllIn,
    CheckedCommand,
    Donks,
    ForceAllIn,
    Json,
    MaxRaises,
    Merge,
    Seed,
    Threads,
    check_no_options,
    emit,
    table,
)
from equilibrist.errors import InvalidValueError

if TYPE_CHECKING:
    from equilibrist.games.bet_menu import BetMenu, MenuTexts
    from equilibrist.games.betting_tree import BettingTree
    from equilibrist.games.rules import GameRules
    from equilibrist.games.sizes import GameSizes

NOLIMIT_BETS = "100%,a"  # default bet sizes of a no-limit tree

Game = Annotated[str, typer.Argument(help="Game of the catalogue, or a .game file.")]

app = typer.Typer(help="List the games of the catalogue.", invoke_without_command=True)


@app.callback()
def games(
    context: typer.Context, json: Json = False, seed: Seed = 0, threads: Threads = None
) -> None:
    """List the games of the catalogue."""
    if context.invoked_subcommand is not None:
        check_no_options(context, not json, not seed, threads is None)
        return
    from equilibrist.games.catalog import describe_game, game_names, get_game

    rows = []
    for name in game_names():
        rules = get_game(name)
        rows.append(
            {
                "name": name,
                "description": describe_game(name),
                "betting": rules.betting,
                "rounds": rules.num_rounds,
                "cards": len(rules.deck),
            }
        )
    text = table([(row["name"], row["description"]) for row in rows])
    emit({"games": rows}, text, as_json=json)


@app.command(cls=CheckedCommand)
def show(game: Game, json: Json = False, seed: Seed = 0, threads: Threads = None) -> None:
    """Print the definition of a game and the size of its tree.

    Example: equilibrist games show leduc
    """
    from equilibrist.games.catalog import load_game
    from equilibrist.games.rules import rules_text

    rules = load_game(game)
    built = _build(rules, menu_of(rules))
    data, text = _describe(built)
    definition = rules_text(rules)
    emit({**data, "definition": definition}, f"{definition}\n{text}", as_json=json)


# Options of `tree`.
TreeBets = Annotated[
    str | None, typer.Option(help=f'No-limit bet sizes ("50%,100%,a"); default: {NOLIMIT_BETS}.')
]
TreeRaises = Annotated[
    str | None, typer.Option(help='No-limit raise sizes ("2.5x,a"); default: the bet sizes.')
]
TreeRounds = Annotated[
    str | None, typer.Option(help="Rounds to build, for example 2-4 or 4; default: all.")
]
TreePot = Annotated[int | None, typer.Option(help="Chips in the pot at the start.")]
TreeNode = Annotated[
    str | None, typer.Option(help="Show one node, named by its betting, for example cr/.")
]


def tree(
    game: Game,
    max_raises: MaxRaises = None,
    bets: TreeBets = None,
    raises: TreeRaises = None,
    donks: Donks = None,
    add_all_in: AddAllIn = None,
    force_all_in: ForceAllIn = None,
    merge: Merge = None,
    rounds: TreeRounds = None,
    pot: TreePot = None,
    node: TreeNode = None,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Print the size of a game's betting tree, or one of its nodes.

    Example: equilibrist tree holdem-limit --max-raises "2 3 3 3"
    """
    from equilibrist.games.catalog import load_game

    rules = load_game(game)
    menu = menu_of(
        rules, bets=bets, raises=raises, max_raises=max_raises, donks=donks, add_all_in=add_all_in,
        force_all_in=force_all_in, merge=merge,
    )  # fmt: skip
    built = _build(rules, menu, rounds, pot)
    data, text = _describe(built)
    if node is not None:
        data, text = _describe_node(built, node)
    emit(data, text, as_json=json)


def menu_of(rules: GameRules, **texts: Unpack[MenuTexts]) -> BetMenu:
    """Return the menu of a game from its texts; no-limit games have default bets."""
    from equilibrist.games.bet_menu import BetMenu, check_limit_texts

    check_limit_texts(rules, texts)
    if not rules.is_limit and texts.get("bets") is None:
        texts["bets"] = NOLIMIT_BETS
    return BetMenu.parse(**texts)


def _build(
    rules: GameRules, menu: BetMenu, rounds: str | None = None, pot: int | None = None
) -> BettingTree:
    from equilibrist.games.betting_tree import BettingTree

    first, last = (1, rules.num_rounds) if rounds is None else parse_rounds(rounds)
    if not 1 <= first <= last <= rules.num_rounds:
        raise InvalidValueError(
            f"rounds of {rules.name} are 1 to {rules.num_rounds}, not {rounds!r}",
            value=rounds,
        )
    return BettingTree.build(rules, menu, first_round=first - 1, last_round=last - 1, pot=pot)


def parse_rounds(text: str) -> tuple[int, int]:
    """Return the first and last round of a text such as `2-4` or `4`, counted from 1."""
    from equilibrist.cards.numbers import parse_whole
    from equilibrist.errors import ParseError

    words = text.split("-")
    first, last = parse_whole(words[0], 99), parse_whole(words[-1], 99)
    if len(words) > 2 or first is None or last is None:
        raise ParseError(
            f"{text!r} does not name rounds; write one, such as 4, or a span, such as 2-4",
            value=text,
        )
    return first, last


def _describe(tree: BettingTree) -> tuple[dict[str, object], str]:
    """Return the counts of a tree as JSON and as text."""
    from dataclasses import asdict

    from equilibrist.games.sizes import game_sizes

    sizes = game_sizes(tree)
    data = {"game": tree.rules.name, "menu": str(tree.menu), **asdict(sizes)}
    has_discards = any(tree.rules.discards[tree.first_round : tree.last_round + 1])
    return data, _sizes_text(tree, sizes, has_discards)


def _sizes_text(tree: BettingTree, sizes: GameSizes, has_discards: bool) -> str:
    rows = [
        (tree.first_round + i + 1, *numbers)
        for i, numbers in enumerate(
            zip(
                sizes.decisions_per_round,
                sizes.folds_per_round,
                sizes.showdowns_per_round,
                sizes.continuations_per_round,
                sizes.deals_per_round,
                sizes.canonical_deals_per_round,
                strict=True,
            )
        )
    ]
    header = ("round", "decisions", "folds", "showdowns", "continue", "deals seen", "up to suits")
    lines = [
        f"{tree.rules.name}, {tree.menu}: {sizes.nodes:,} nodes",
        table(rows, header=header),
        f"information sets {sizes.infosets:,}; up to suits {sizes.canonical_infosets:,} "
        f"with {sizes.canonical_infoset_actions:,} actions",
    ]
    if has_discards:
        lines.append("(discarded cards are not counted as seen)")
    return "\n".join(lines)


def _describe_node(tree: BettingTree, name: str) -> tuple[dict[str, object], str]:
    from equilibrist.games.betting_tree import NodeKind

    node = tree.parse(name)
    kind = NodeKind(tree.kind[node]).name.lower().replace("_", " ")
    actions = [tree.step(child) for child in tree.children(node)]
    player = int(tree.player[node])
    spent = tree.spent[node].tolist()
    data: dict[str, object] = {
        "game": tree.rules.name,
        "node": name,
        "id": node,
        "kind": kind,
        "round": int(tree.round[node]) + 1,
        "player": None if player < 0 else player,
        "spent": spent,
        "pot": sum(spent),
        "unit": "chips",
        "children": actions,
    }
    owner = "" if player < 0 else f" of player {player}"
    follow = f"; then {', '.join(actions)}" if actions else ""
    text = f"{name or 'start'!r}: {kind}{owner} in round {data['round']}, pot {sum(spent)} chips"
    return data, f"{text} ({' + '.join(map(str, spent))}){follow}"

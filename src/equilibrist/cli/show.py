"""`equilibrist show`: what any strategy does at a node."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equilibrist.cli.options import (
    Json,
    Palette,
    Seed,
    Threads,
    check_palette,
    emit,
    prepare_kernels,
)
from equilibrist.cli.spot import SPOT_KERNELS
from equilibrist.display.picture import check_plot

if TYPE_CHECKING:
    from equilibrist.strategies.node_strategy import NodeStrategy
    from equilibrist.strategies.played import IdentifiedStrategy

_KERNELS = ("sequence_form.normalize", "sequence_form.realize_team")


# Options of `show`.
ShownStrategy = Annotated[
    str, typer.Argument(help="Bot, mix (uniform, always-call), or folder of a solution or spot.")
]
Node = Annotated[str, typer.Option(help="Betting so far, for example cr or cc/r.")]
NodeBoard = Annotated[str, typer.Option(help="All board cards at the node, if any.")]
OneHand = Annotated[str, typer.Option(help="One hand to show, for example AhKd.")]
GridOrTable = Annotated[
    bool | None,
    typer.Option(
        "--grid/--table",
        help="13 × 13 grid or table of hands; default: grid if hands have two cards.",
        show_default=False,
    ),
]
GridPlot = Annotated[Path | None, typer.Option(help="Draw the grid to this PNG file.")]
MixGame = Annotated[str | None, typer.Option(help="Game of a mix; default: holdem-limit.")]


def show(
    strategy: ShownStrategy,
    node: Node = "",
    board: NodeBoard = "",
    hand: OneHand = "",
    grid: GridOrTable = None,
    plot: GridPlot = None,
    palette: Palette = "usual",
    game: MixGame = None,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Show a strategy at a node: the probability of each action with each hand.

    Without --node, shows the first decision: the preflop chart of a hold'em bot. A node after the
    flop needs --board; without it, a strategy of buckets shows its buckets.

    Examples: equilibrist show smallbot --node r --plot reply.png ·
    equilibrist show leduc-solution --node cc/r --board Ks ·
    equilibrist show turn --node cr120 --hand AhKd
    """
    from equilibrist.bots.open import is_mix, open_strategy
    from equilibrist.display.grid import draw_grid
    from equilibrist.games.catalog import load_game

    check_palette(palette)
    check_plot(plot)
    if not is_mix(strategy):
        prepare_kernels(threads, *_KERNELS)
    named = open_strategy(strategy, None if game is None else load_game(game))
    if not (board.strip() or hand or grid or plot) and _needs_board(named, node):
        data, text = _buckets(named, node)
    else:
        report = _report(named, node, board)
        data, text = _hands(report, hand, grid, palette, _title(named, report))
        if plot is not None:
            draw_grid(report, plot, palette)
    rules = named.strategy.tree.rules
    data = {"strategy": strategy, "game": rules.name} | data | {"checked": list(named.checked)}
    emit(data, text, as_json=json)


def _report(named: IdentifiedStrategy, node: str, board: str) -> NodeStrategy:
    """Return the node of a spot or of another strategy."""
    from equilibrist.strategies.browsing import report_at
    from equilibrist.strategies.spot_report import Answers

    if isinstance(named.strategy, Answers):
        prepare_kernels(None, *SPOT_KERNELS)
    return report_at(named.strategy, node, board)


def _needs_board(named: IdentifiedStrategy, node: str) -> bool:
    """Return whether a node is after board cards, and the strategy has one table for all boards."""
    from equilibrist.strategies.played import BucketColumns, TableStrategy

    strategy = named.strategy
    if not isinstance(strategy, TableStrategy) or strategy.is_glued:
        return False
    tree, is_of_buckets = strategy.tree, isinstance(strategy.columns, BucketColumns)
    return is_of_buckets and tree.rules.board_cards_by(int(tree.round[tree.parse(node)])) > 0


def _buckets(named: IdentifiedStrategy, node: str) -> tuple[dict[str, Any], str]:
    """Return what each bucket does at a node, as JSON and as text."""
    from equilibrist.cli.node_text import wide_table, wrapped
    from equilibrist.games.words import action_labels, node_words, seat_name
    from equilibrist.strategies.node_strategy import bucket_behaviour
    from equilibrist.strategies.played import TableStrategy

    assert isinstance(named.strategy, TableStrategy)
    tree, found = named.strategy.tree, bucket_behaviour(named.strategy, node)
    v = tree.parse(node)
    words, labels = node_words(tree, v), action_labels(tree, v)
    data = {
        "node": found.node,
        "words": words,
        "board": found.board,
        "player": found.player,
        "actions": list(found.actions),
        "action_words": list(labels),
        "hands": list(found.hands),
        "probabilities": found.probabilities.tolist(),
        "reach": found.reach.tolist(),
    }
    rows = [
        (name, f"{reach:.4g}", *(f"{100 * own:.1f} %" for own in row))
        for name, row, reach in zip(found.hands, found.probabilities, found.reach, strict=True)
    ]
    title = (
        f"{_name(named)}: player {found.player} ({seat_name(tree.rules, found.player)}) acts at "
        f"{found.node!r} ({words}) on any board; to see hands, give --board"
    )
    text = wide_table(rows, ("bucket", "reach"), found.actions, labels)
    return data, f"{wrapped(title, _checks(named))}\n{text}"


def _hands(
    report: NodeStrategy, hand: str, grid: bool | None, palette: str, title: str
) -> tuple[dict[str, Any], str]:
    """Return what one hand or all hands do at a node, as JSON and as text below a title."""
    from equilibrist.cli import node_text

    places = [[report.place_of(hand)]] if hand else report.alike()
    data = node_text.node_data(report, places)
    is_grid = report.rules.num_hole_cards == 2 if grid is None else grid
    if hand:
        text = node_text.hand_text(report, places[0][0])
    elif not len(report.hands):
        text = "no hand of either range gets here"
    elif not is_grid:
        text = node_text.hands_table(report, places)
    else:
        shown = node_text.grid_with_legend(report, palette)
        text = f"{node_text.actions_table(report)}\n\n{shown}"
    return data, f"{title}\n{text}"


def _title(named: IdentifiedStrategy, report: NodeStrategy) -> str:
    from equilibrist.cli.node_text import head_text, wrapped

    return wrapped(f"{_name(named)}: {head_text(report)}", _checks(named))


def _name(named: IdentifiedStrategy) -> str:
    """Return the strategy and its game in words."""
    from equilibrist.cli.options import shorten

    game = named.strategy.tree.rules.name
    name = shorten(named.name)
    return name if game in (name, "spot") else f"{name}, {game}"


def _checks(named: IdentifiedStrategy) -> str:
    """Return which checksums were compared, in brackets; empty for a mix."""
    if not named.checked:
        return ""
    return f"({'all checksums' if 'checksums' in named.checked else named.checked[0]} match)"

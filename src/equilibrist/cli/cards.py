"""`equilibrist equity`, `rank` and `index`."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equilibrist.cli.options import (
    Json,
    Remaining,
    Seed,
    Threads,
    emit,
    prepare_kernels,
    table,
)

if TYPE_CHECKING:
    from equilibrist.cards.card import Card
    from equilibrist.cards.equity import Equity
    from equilibrist.cards.isomorphism import DealIndexer
    from equilibrist.cards.range import Range

# Kernels that the commands compile on their first run.
EQUITY_KERNELS = ("equity.showdown_boards", "equity.canonical_boards")
INDEX_KERNELS = ("isomorphism.index_deal", "isomorphism.unindex_deals", "isomorphism.relate")


# Options of `equity`.
TwoRanges = Annotated[
    list[str],
    typer.Argument(help="Two hands or ranges, one with --random: AhKh, QQ+, A5s-A2s:0.5 …"),
]
DealtBoard = Annotated[str, typer.Option(help="Board cards already dealt, for example 2c7d9h.")]
DeadCards = Annotated[str, typer.Option(help="Cards known to be out of play.")]
RandomHand = Annotated[
    bool, typer.Option("--random", help="Use a random hand as the second range.")
]
EquityMethod = Annotated[str, typer.Option(help="exact or monte-carlo.")]
Samples = Annotated[int, typer.Option(help="Number of boards for monte-carlo.")]
Discards = Annotated[
    bool, typer.Option("--discards", help="Use discard-holdem with EctomynX's swap rule (sampled).")
]


def equity(
    hands: TwoRanges,
    board: DealtBoard = "",
    dead: DeadCards = "",
    random: RandomHand = False,
    method: EquityMethod = "exact",
    samples: Samples = 100_000,
    discards: Discards = False,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Compute the equity of a hand or range against another, exactly or by Monte Carlo.

    Examples: equilibrist equity AhKh QsQd --board 2c7d9h ·
    equilibrist equity AA --random --discards --samples 1000000
    """
    from equilibrist.cards import equity as library
    from equilibrist.cards.card import cards_name, parse_cards
    from equilibrist.cli.discards import check_before_flop, print_discard_equity

    first, second = _two_ranges(hands, random)
    if discards:
        check_before_flop(board, dead)
        print_discard_equity(first, second, samples, threads, seed=seed, as_json=json)
        return
    board_cards, dead_cards = parse_cards(board), parse_cards(dead)
    kernels = EQUITY_KERNELS if method == "exact" else EQUITY_KERNELS[:1]
    prepare_kernels(threads, *kernels)
    start, watch = time.perf_counter(), Remaining("equity")
    result = library.equity(
        first, second, board_cards, dead_cards,
        method=method, samples=samples, seed=seed, progress=watch,
    )  # fmt: skip
    data = _equity_data((first, second), board_cards, dead_cards, result)
    data |= {"seed": None if result.exact else seed}
    data |= {"seconds": round(time.perf_counter() - start, 3)}
    known = (*board_cards, *dead_cards)
    sides = first.describe(known), second.describe(known)
    emit(data, _equity_text(sides, result, cards_name(board_cards)), as_json=json)


def _equity_data(
    sides: tuple[Range, Range], board: Sequence[Card], dead: Sequence[Card], result: Equity
) -> dict[str, Any]:
    """Return an equity as JSON: both sides, the known cards and the results."""
    from equilibrist.cards.card import cards_name

    known = (*board, *dead)  # hands with one of these cards cannot be held
    return {
        "first": str(sides[0]),
        "second": str(sides[1]),
        "first_combos": sides[0].without(known).num_combos,
        "second_combos": sides[1].without(known).num_combos,
        "board": cards_name(board),
        "dead": cards_name(dead),
        **asdict(result),
    }


def _two_ranges(hands: list[str], random: bool) -> tuple[Range, Range]:
    """Return both sides of an equity; with `random` the second one holds any hand."""
    from equilibrist.cards.range import Range, parse_range
    from equilibrist.errors import InvalidValueError

    if len(hands) != (1 if random else 2):
        wanted = "one hand or range with --random" if random else "two hands or ranges"
        raise InvalidValueError(
            f"equity needs {wanted}, such as AhKh QsQd or AhKh --random, not {len(hands)}",
            value=hands,
        )
    return parse_range(hands[0]), Range.random() if random else parse_range(hands[1])


def _equity_text(sides: tuple[str, str], result: Equity, board: str) -> str:
    """Return an equity as text: both sides, the results, and how they were found."""
    how = "exact" if result.exact else f"Monte Carlo, standard error {result.standard_error:.2%}"
    shares = (result.wins / result.total, result.ties / result.total, result.losses / result.total)
    rows = [
        ("first", sides[0], f"{result.equity:.4%}"),
        ("second", sides[1], f"{1 - result.equity:.4%}"),
    ]
    lines = [
        table(rows),
        "win {:.4%}, tie {:.4%}, loss {:.4%}".format(*shares),
        f"{how}: {result.total:,} deals" + (f" on {board}" if board else ""),
    ]
    return "\n".join(lines)


# Options of `rank`.
RankedCards = Annotated[list[str], typer.Argument(help="1 to 7 cards, for example AhKhQhJhTh2c3d.")]
RankingName = Annotated[str, typer.Option(help="standard, or three-card (Rhode Island hold'em).")]


def rank(
    cards: RankedCards,
    ranking: RankingName = "standard",
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Print the value and the name of a poker hand.

    Example: equilibrist rank KhKd4c4d9hJsQc
    """
    from equilibrist.cards.card import cards_name, cards_symbols, parse_cards
    from equilibrist.cards.ranking import category, category_bounds, hand_description, rank_cards

    parsed = parse_cards(" ".join(cards))
    value = rank_cards(parsed, ranking)
    num_classes = list(category_bounds(len(parsed), ranking).values())[-1][1]
    data = {
        "cards": cards_name(parsed),
        "ranking": ranking,
        "value": value,
        "num_values": num_classes,
        "category": category(parsed, ranking),
        "description": hand_description(parsed, ranking),
    }
    symbols = cards_symbols(parsed, colour=sys.stdout.isatty())
    text = f"{symbols}: {data['description']} (value {value} of 0 … {num_classes - 1})"
    emit(data, text, as_json=json)


# Options of `index`.
DealtCards = Annotated[
    list[str] | None, typer.Argument(help="Cards in dealt order, for example AhKh 2c7d9h.")
]
Pattern = Annotated[str, typer.Option(help="Number of cards dealt per round.")]
DealIndex = Annotated[int | None, typer.Option(help="Show the deal with this index.")]
NumRanks = Annotated[int, typer.Option(help="Number of ranks in the deck.")]
NumSuits = Annotated[int, typer.Option(help="Number of suits in the deck.")]


def index(
    cards: DealtCards = None,
    pattern: Pattern = "2,3,1,1",
    at: DealIndex = None,
    ranks: NumRanks = 13,
    suits: NumSuits = 4,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Print the suit-isomorphic index of a deal, the deal of an index, or the number of deals.

    Examples: equilibrist index AhKh2c7d9h · equilibrist index --pattern 2,3,1,1 ·
    equilibrist index --pattern 2,3 --at 1238851
    """
    from equilibrist.cards.card import Deck, parse_cards
    from equilibrist.cards.isomorphism import DealIndexer
    from equilibrist.errors import InvalidValueError

    if cards and at is not None:
        raise InvalidValueError("give cards or --at INDEX, not both", value=at)
    indexer = DealIndexer(_parse_pattern(pattern), Deck(ranks, suits))
    if not cards and at is None:
        data, text = _index_sizes(indexer)
    else:
        prepare_kernels(threads, *INDEX_KERNELS)
        deal = parse_cards(" ".join(cards or [])) if at is None else indexer.unindex(at)
        data, text = _index_of(indexer, deal)
    emit({"pattern": list(indexer.rounds), "size": indexer.size, **data}, text, as_json=json)


def _index_sizes(indexer: DealIndexer) -> tuple[dict[str, object], str]:
    """Return the number of deals of each round, and of those that differ by more than suits."""
    rows = [
        (",".join(map(str, indexer.rounds[: r + 1])), raw, size)
        for r, (raw, size) in enumerate(zip(indexer.raw_sizes, indexer.sizes, strict=True))
    ]
    data: dict[str, object] = {"sizes": list(indexer.sizes), "raw_sizes": list(indexer.raw_sizes)}
    return data, table(rows, header=("rounds", "deals", "up to suits"))


def _index_of(indexer: DealIndexer, deal: Sequence[Card]) -> tuple[dict[str, object], str]:
    """Return the index of a deal, and the deal that stands for all that differ by suits only."""
    from equilibrist.cards.card import cards_name

    indices = indexer.indices(deal)
    last = len(indices) - 1
    canonical = indexer.unindex(indices[-1], last)
    data: dict[str, object] = {
        "round": last + 1,
        "round_size": indexer.sizes[last],
        "cards": cards_name(deal),
        "index": indices[-1],
        "indices": list(indices),
        "canonical": cards_name(canonical),
        "multiplicity": indexer.multiplicity(indices[-1], last),
    }
    text = (
        f"{cards_name(deal)} is {indices[-1]:,} of 0 … {indexer.sizes[last] - 1:,}, "
        f"equivalent to {cards_name(canonical)}, {data['multiplicity']} deals in total"
    )
    return data, text


def _parse_pattern(text: str) -> tuple[int, ...]:
    from equilibrist.cards.numbers import parse_whole
    from equilibrist.errors import ParseError

    numbers = []
    for word in text.replace(",", " ").split():
        number = parse_whole(word, 52)
        if number is None:
            raise ParseError(
                f"{word!r} in the pattern {text!r} is not a number of cards; write 2,3,1,1",
                value=word,
                position=text.index(word),
            )
        numbers.append(number)
    return tuple(numbers)

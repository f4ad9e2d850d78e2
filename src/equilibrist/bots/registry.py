"""The catalogue of bots: one entry per bot, whatever its kind (`bots.bot`)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from equilibrist.bots.bot import (
    Bot,
    BotPlayer,
    BucketBot,
    GluedBot,
    RealGameBot,
    SelfTaughtBot,
)
from equilibrist.catalogue import Catalogue
from equilibrist.errors import InvalidValueError

# --- the entries ----------------------------------------------------------------------------------

_SMALLBOT: Final = BucketBot(
    "smallbot",
    "Range of Skill's strength quintiles: 5-25-125-625 buckets",
    recipe="percentile",
    buckets=(5, 25, 125, 625),
    max_raises="2 3 3 3",
    target=1.0,
    minutes=6.0,
    paper="Zinkevich, Bowling and Burch 2007",
)
_BIGBOT: Final = replace(
    _SMALLBOT,
    name="bigbot",
    description="SmallBot under the full rules: calls a raise beyond its caps and ignores it",
    family="smallbot",
)
_GS3: Final = BucketBot(
    "gs3",
    "GS3's potential-aware buckets 20-800-4800-28800, all deals counted",
    recipe="potential-aware",
    buckets=(20, 800, 4800, 28800),
    max_raises="3 3 3 3",
    target=13.5,
    evaluate_every=25,
    minutes=120.0,
    paper="Gilpin, Sandholm and Sørensen 2007",
)
_PSOPTI1: Final = GluedBot(
    "psopti1",
    "PsOpti1: Selby's preflop hold'em, then models for pots of 2, 4, 6 and 8 bets, 7 buckets",
    recipe="strength-potential",
    buckets=(1, 7, 7, 7),
    max_raises="3 3 3 3",
    target=1.0,
    minutes=6.0,
    dtype="float64",
    paper="Billings et al. 2003",
    solve_models="equilibrist.papers.psopti.composing:solve_models",
    opening="selby",
    pots=(2, 4, 6, 8),
)
_ECTOMYNX: Final = SelfTaughtBot(
    "ectomynx",
    "Swaps by a rule and bets by levels, from the report's weights, then cycles of hands",
    game="discard-holdem",
    method="levels",
    hands=10**8,
    cycles=5,
    speed=8e5,
    minutes=5.2,
    paper="EctomynX, MIT Pokerbots 2017",
    trainer="equilibrist.papers.ectomynx.train:train",
    status="equilibrist.papers.ectomynx.train:run_status",
    kernels=("fixed_strategy.play_cycle", "fixed_strategy.play_match"),
    player=BotPlayer(
        "equilibrist.papers.ectomynx.level_player:make_level_player",
        "[first|DIR]",
        ("fixed_strategy.hand_state",),
    ),
)

_NOLIMIT_QUICK: Final = BucketBot(
    "nolimit-quick",
    "No-limit hold'em, 200 big blinds: all 169 starting hands, then buckets by win probability",
    game="holdem-nolimit",
    recipe="expectation",
    buckets=(169, 507, 1014, 1690),
    bets="100%,a / 50%,100% / 50%,100%,a",
    raises="100%,a",
    max_raises="3 2 2 2",
    force_all_in="15%",
    method="log-dcfr+",
    target=20.0,
    boards=200_000,
    minutes=10.0,
)

BOTS: Final = Catalogue(
    "bot",
    (
        _SMALLBOT,
        replace(
            _SMALLBOT,
            name="smallbot-quick",
            description="SmallBot from a sample of boards, less exact",
            target=5.0,
            boards=40_000,
            minutes=2.0,
        ),
        RealGameBot(
            "limit-quick",
            "Strength percentiles, 8-64-512-4096, by CFR+ while it improves in hold'em itself",
            recipe="percentile",
            buckets=(8, 64, 512, 4096),
            max_raises="2 3 3 3",
            boards=40_000,
            method="cfr+",
            target=1.0,
            measured=12,
            iterations=180,
            evaluate_every=60,
            patience=1,
            minutes=10.0,
        ),
        BucketBot(
            "gs2",
            "GS2: buckets 15-225-900 by win probability; turn and river are solved during play",
            recipe="expectation",
            buckets=(15, 225, 900, 3600),
            max_raises="3 3 3 3",
            target=5.0,
            boards=40_000,
            minutes=4.0,
            last_round=2,
            paper="Gilpin and Sandholm 2007",
            player=BotPlayer(
                "equilibrist.papers.gs3.two_phase:make_two_phase_player",
                "[SECONDS|iterations=N][,log=FILE][,from=DIR]",
                ("sequence_form.sweeps_team", "ranking.rank_hands"),
            ),
        ),
        _BIGBOT,
        replace(
            _BIGBOT,
            name="smallbot-stopped",
            description="SmallBot stopped at the paper's exploitability, 10.6 mbb/g",
            target=10.6,
            solution="solution-stopped",
            evaluate_every=1,
        ),
        replace(
            _BIGBOT,
            name="smallbot-skill",
            description="SmallBot by the paper's own algorithm, range of skill; slow",
            target=10.0,
            method="range-of-skill",
            minutes=90.0,
            solution="solution-skill",
            evaluate_every=1,
        ),
        RealGameBot(
            "smallbot-br",
            "SmallBot's buckets, all raises, against best responses in hold'em itself; needs a GPU",
            recipe="percentile",
            buckets=(5, 25, 125, 625),
            max_raises="3 4 4 4",
            target=120.0,
            iterations=5_000,
            minutes=500_000.0,
            needs_gpu=True,
            paper="Johanson, Bard, Burch and Bowling 2012",
            family="smallbot",
            solution="solution-br",
        ),
        _GS3,
        replace(
            _GS3,
            name="gs3-small",
            description="GS3 with 8-64-512-4096 buckets, from a sample of boards",
            buckets=(8, 64, 512, 4096),
            boards=200_000,
            minutes=9.0,
        ),
        replace(
            _PSOPTI1,
            name="psopti0",
            description="PsOpti0: always calls before the flop, then one model for a pot of 2 bets",
            family="psopti1",
            solution="solution-call",
            opening="call",
            pots=(2,),
        ),
        _PSOPTI1,
        replace(
            _PSOPTI1,
            name="psopti2",
            description="PsOpti2: a three-round model, then one model per preflop line, 6 buckets",
            buckets=(6, 6, 6, 6),
            minutes=10.0,
            opening="model",
            pots=(),
        ),
        _ECTOMYNX,
        replace(
            _ECTOMYNX,
            name="ectomynx-frc",
            description="The report's ideas: fold, call, raise and swap by regret on the same "
            "states",
            method="decisions",
            hands=2 * 10**6,
            cycles=10,
            speed=2.7e4,
            minutes=6.2,
            cleaning=0.005,
            kernels=("decisions.walk_hands", "decision_matches.play_deals"),
            player=BotPlayer(
                "equilibrist.papers.ectomynx.decision_player:make_decision_player",
                "[DIR]",
                ("fixed_strategy.hand_state",),
            ),
        ),
        _NOLIMIT_QUICK,
        replace(
            _NOLIMIT_QUICK,
            name="nolimit-quick-100",
            description="No-limit hold'em, 100 big blinds: the same buckets and bets",
            game="holdem-nolimit-100",
        ),
    ),
    kind=Bot,
)


# --- by name --------------------------------------------------------------------------------------


def get_bucket_bot(name: str) -> BucketBot:
    """Return a bot of buckets by its name.

    Raises `UnknownNameError` if there is no bot of this name, `InvalidValueError` if it is of
    another kind.

    Example:
        >>> get_bucket_bot("smallbot").max_raises
        '2 3 3 3'
    """
    bot = BOTS[name]
    if not isinstance(bot, BucketBot):
        raise InvalidValueError(f"{name} is not a bot of buckets", value=name)
    return bot


def solution_of(name: str) -> Path:
    """Return the folder of a trained bot's solution; raise `StorageError` if it is untrained."""
    return get_bucket_bot(name).stored_solution()


def strategy_of(name: str) -> Path:
    """Return the folder of the strategy that a trained bot plays from.

    Raises `StorageError` if the bot is untrained, and `InvalidValueError` if it stores no strategy.
    """
    return BOTS[name].stored_strategy()

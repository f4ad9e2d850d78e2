"""The arrays that kernels share, as NamedTuples, with their axes.

Axis letters: N hands (or deals), n cards a hand, C = 52 cards, R rounds, T types, K cases;
B boards of all rounds, L numbers of a plan, D decisions, E entries, F folds, Z showdowns.
"""

from __future__ import annotations

from typing import NamedTuple

from numpy import bool_, float32, float64, int8, int32, int64, uint8, uint16, uint64
from numpy.typing import NDArray


class RankTables(NamedTuple):
    """Tables that turn a *sum* over cards into the value of a hand (`kernels/rank_tables.py`)."""

    start: uint64  # what an empty hand's key sum begins with: the bias of the suit counters
    card_key: NDArray[uint64]  # [C] rank digits and suit counter of a card, to be added
    card_mask: NDArray[uint64]  # [C] one bit a card, 16 bits a suit, to be added
    low_index: NDArray[uint16]  # [5**7] place among multisets of low ranks of the same size
    high_start: NDArray[uint16]  # [5**6] where the block of a multiset of high ranks begins
    flush_start: uint64  # where the flushes begin in `value`
    value: NDArray[uint16]  # [multisets of n ranks + 2**13] hands without flush; ranks of a flush


class SwapTables(NamedTuple):
    """What the swap rule looks up of a set of ranks, 13 bits (`papers/ectomynx/swap_rule.py`)."""

    size: NDArray[int8]  # [2**13] ranks in the set
    straight: NDArray[int8]  # [2**13] highest card of the best straight, −1 if none
    draws: NDArray[uint16]  # [2**13] set of the ten runs of five ranks of which one is missing
    outs: NDArray[int8]  # [2**13] different ranks that would make a straight
    runs_with: NDArray[uint16]  # [13] set of the runs that a rank belongs to


class TextureTables(NamedTuple):
    """Tables of wetness and volatility (`papers/ectomynx/textures.py`); streets are flop to river.

    Borders are lowered by half a unit of the ninth digit, to which sums are rounded.
    """

    closeness: NDArray[float64]  # [3, 2**13] connectivity of a set of ranks
    flop_base: NDArray[float64]  # [2**13] volatility of a flop without its suits
    suited: NDArray[float64]  # [3, 6] suitedness by cards of a suit
    wetness_borders: NDArray[float64]  # [3, 4] infinite where a street has fewer bins
    volatility_borders: NDArray[float64]  # [2]


class LineTables(NamedTuple):
    """Streets of level players (`papers/ectomynx/betting_lines.py`); Q lines, E ends of streets.

    The ends of a line are [slots of BB, levels of BU]; its weights are [states, slots].
    """

    num_levels: NDArray[int64]  # [Q]
    num_slots: NDArray[int64]  # [Q]
    weight_start: NDArray[int64]  # [Q]
    slot_start: NDArray[int64]  # [Q] first slot in `leads`
    end_start: NDArray[int64]  # [Q]
    leads: NDArray[bool_]  # whether BB bets with a slot
    next: NDArray[int64]  # [E] the line that follows, or one of the negative endings
    stake: NDArray[int64]  # [E] chips that the loser of the hand has put in, if it ends
    played: NDArray[int64]  # [E, 2] levels played by BB and BU, −1 for who has not acted


class LevelGame(NamedTuple):
    """All that a hand of players of levels needs."""

    ranks: RankTables
    swaps: SwapTables
    textures: TextureTables
    lines: LineTables


class DecisionTables(NamedTuple):
    """Rows of a player that chooses actions (`papers/ectomynx/decision_lines.py`); Q lines.

    A row is a decision in a state and has a place for each of four actions. Rows of betting are
    [states, positions of the line] from `bet_start` on, those of swaps [states, 2, seats] from
    `swap_start` on: whether the swap rule would keep both cards is part of the state.
    """

    stack: int64  # chips of each
    actor: NDArray[int64]  # [2, 16] who decides, before the flop and after it, by position
    after_raise: NDArray[int64]  # [2, 16] the position after a raise, −1 where there is none
    after_shove: NDArray[int64]  # [16] that after all chips, −1 where they are in
    mark: NDArray[int64]  # [2, 16] how a street has ended that ends by a call
    preflop_sizes: NDArray[int64]  # [16] of a raise by position
    tenths: NDArray[int64]  # [4, 12] of the pot that is bet, by street and texture that it adds
    num_positions: NDArray[int64]  # [Q]
    place: NDArray[int64]  # [Q, 16] of a position among those of its line, −1 where it has it not
    next: NDArray[int64]  # [Q, 7] the line after a street, by how it ended; −1 where none follows
    bet_start: NDArray[int64]  # [Q]
    swap_start: NDArray[int64]  # [Q] −1 on streets without swaps


class DecisionGame(NamedTuple):
    """All that a hand of players that decide action by action needs."""

    ranks: RankTables
    swaps: SwapTables
    textures: TextureTables
    lines: DecisionTables


class SwapDeal(NamedTuple):
    """A deal with all hands that swaps can lead to: two seats, four streets.

    A seat has one hand before the flop, three on it (keep, or swap either card) and nine later: 3 ·
    that of the flop + the choice on the turn.
    """

    states: NDArray[int64]  # [2, 4, 9] of betting
    swap_states: NDArray[int64]  # [2, 4, 3] of swaps, on flop and turn; 2 · state + rule keeps
    values: NDArray[int64]  # [2, 9] at a showdown
    tenths: NDArray[int64]  # [4] of the pot that bets and raises are, by street


class DealTables(NamedTuple):
    """The case analysis of a deal pattern (`kernels/deal_tables.py`).

    A *type* says which suits are still interchangeable and how many ranks each has left. A *case*
    is one way in which the cards of a round fall on the suits of a type. P = 4 suit positions.
    """

    num_ranks: int64  # ranks of the deck; the deck holds the highest ones
    num_suits: int64  # suits of the deck; likewise
    round_cards: NDArray[int64]  # [R] cards dealt in each round
    multiplicity: NDArray[int64]  # [T] raw deals that a canonical deal of this type stands for
    code_start: NDArray[int64]  # [R, T] where the codes of a round and type begin in case_of_code
    case_of_code: NDArray[int32]  # case of a code (counts and equalities), −1 if impossible
    case_of_class: NDArray[int32]  # [R, T, P] one-card rounds: case, by first position of the class
    case_span: NDArray[int64]  # [R, T, 2] first case of a round and type, and the end
    child: NDArray[int32]  # [K] type after the case
    num_locals: NDArray[int64]  # [K] how many local indices the case has
    offset: NDArray[int64]  # [R, K] deals of round r that come before the case under one parent
    size: NDArray[int64]  # [R, K] deals of round r under each deal of the case
    dealt: NDArray[uint8]  # [K, P] cards that fall on each position
    choose: NDArray[uint8]  # [K, P] k of the binomial C(v, k) of each position's set, 0: a repeat
    stride: NDArray[int64]  # [K, P] weight of that binomial in the local index
    radix: NDArray[int64]  # [K, P] number of values of the digit that position belongs to
    binomial: NDArray[int64]  # [14, 14] n choose k
    subsets: NDArray[int64]  # [1718, 5] v choose k, for ranks v of sets
    popcount: NDArray[uint8]  # [2**13]


class Treeplex(NamedTuple):
    """One player's side of a game: sequences of actions on boards, in states of knowledge.

    A plan is L numbers, round by round, board by board; the block of a board is [Q, S]: a row for
    each of the player's sequences of the round, a column for each of the player's states on the
    board. The first rows of a round are *entries* (where the round opens, one a root of its betting
    tree), then come the actions of each decision, parents before children. Boards are numbered
    through all rounds, those with the same parent contiguous.
    """

    num_sequences: NDArray[int64]  # [R] rows of a block, Q
    board_start: NDArray[int64]  # [R + 1] first board of each round
    block_start: NDArray[int64]  # [B + 1] where the block of a board begins in a plan
    num_states: NDArray[int64]  # [B] columns of the block, S
    board_parent: NDArray[int64]  # [B] board of the round before, −1 in the first round
    child_start: NDArray[int64]  # [B + 1] first board of the next round under each board
    state_start: NDArray[int64]  # [B + 1] where the board's states begin in `state_parent`
    state_parent: NDArray[int32]  # [states of all boards] column in the parent board's block
    entry_start: NDArray[int64]  # [R + 1] where the round's entries begin in `entry_parent`
    entry_parent: NDArray[int32]  # [E] row in the round before, −1 in the first round
    decision_start: NDArray[int64]  # [R + 1] first decision of each round
    decision_parent: NDArray[int32]  # [D] row that leads to the decision
    decision_first: NDArray[int32]  # [D] row of its first action
    decision_size: NDArray[int32]  # [D] number of its actions
    locked: NDArray[bool_]  # [D] whether its probabilities are given and stay


class LeafTables(NamedTuple):
    """Where hands end, and what they are worth to player 0, in chips."""

    fold_start: NDArray[int64]  # [R + 1] first fold of each round
    fold_rows: NDArray[int32]  # [F, 2] both players' rows
    fold_payoff: NDArray[float64]  # [F] chips that player 0 wins
    showdown_start: NDArray[int64]  # [R + 1]
    showdown_rows: NDArray[int32]  # [Z, 2]
    showdown_stake: NDArray[float64]  # [Z] chips that the winner wins


class PairTables(NamedTuple):
    """Two ways to say which states of the players meet, and who wins (see `models/leaves.py`).

    Dense: a matrix [S0, S1] a board. Sorted: the hands of a board in order of value. Sorted and
    single: hands are one card, which blocks only itself, so states can be swept instead of hands.
    """

    is_sorted: bool_
    is_single: bool_
    matrix_start: NDArray[int64]  # [B] where the board's matrices begin
    joint: NDArray[float64]  # chance of (board, state, state)
    win: NDArray[float64]  # the same times the showdown's sign: win 1, tie 0, loss −1
    hand_start: NDArray[int64]  # [B + 1] where the board's hands begin
    hand_state: NDArray[int32]  # state of each hand on the board, hands in order of value
    hand_cards: NDArray[uint8]  # [hands, 2] its cards; 52 for the second of a one-card hand
    hand_value: NDArray[int32]  # its value at a showdown; compares on one board
    hand_others: NDArray[int32]  # [hands, 2] how many hands of the board are worse, and better
    state_start: NDArray[int64]  # [B + 1] where the board's states begin in the next three
    state_size: NDArray[float32]  # how many hands each state stands for
    state_order: NDArray[int32]  # the states of each board, lowest value first
    state_cards: NDArray[uint8]  # [states, 2] in that order: the cards of one of its hands
    state_below: NDArray[int32]  # [states, 2] in that order: states before its value, and up to it
    weight: NDArray[float64]  # [B] chance of the board and one pair of hands that can meet on it


class ChanceTables(NamedTuple):
    """How likely boards are, and player 0's states on those of the last round."""

    board: NDArray[float64]  # [B] chance that a path leads through the board
    last: NDArray[float64]  # [boards of the last round] cumulative
    state: NDArray[float64]  # [states of all boards of player 0] cumulative on each board;
    # of use in the last round of dense games only, empty where hands are sorted


class WalkTables(NamedTuple):
    """The betting tree as a walk needs it: V nodes, children contiguous and after their parents."""

    actor: NDArray[int64]  # [V] who decides, −1 elsewhere
    round: NDArray[int64]  # [V] counted from the tree's first round
    first_child: NDArray[int64]  # [V]
    num_children: NDArray[int64]  # [V] 0 at leaves
    row: NDArray[int64]  # [V, 2] both players' rows that lead to the node
    opens: NDArray[bool_]  # [V] whether a round opens here
    locked: NDArray[bool_]  # [V] whether the actor's probabilities are given and stay
    fixed: NDArray[float64]  # [V] chips that player 0 wins at the leaf whatever the cards
    contested: NDArray[float64]  # [V] chips that the winner of a showdown wins


class SeatTable(NamedTuple):
    """How a player who is a table plays one seat of a betting tree of V nodes.

    The chance to go to a node c in state s is `chances[cell[j] + row[c] * width[j]]`, where j is
    the place of s among the states of all rounds, and nothing where the row is −1.
    """

    chances: NDArray[float64]  # [L] behaviour in the layout of the seat's treeplex
    row: NDArray[int64]  # [V] row whose action leads to each node below the seat's decisions
    state_start: NDArray[int64]  # [R] where the states of each round begin
    cell: NDArray[int64]  # [states of all rounds] where each lies in row 0 of its block
    width: NDArray[int64]  # [states of all rounds] how far the rows of its block are apart
    threshold: float64  # chances below are none, unless all are

"""NamedTuples of the arrays that kernels share, with the shape of each array.

Axis letters: N hands (or deals), n cards per hand, C = 52 cards, R rounds, T types, K cases;
B boards of all rounds, L numbers of a plan, D decisions, E entries, F folds, Z showdowns.
"""

from __future__ import annotations

from typing import NamedTuple

from numpy import bool_, float32, float64, int8, int32, int64, uint8, uint16, uint64
from numpy.typing import NDArray


class RankTables(NamedTuple):
    """Tables that turn a *sum* over cards into the value of a hand (`kernels/rank_tables.py`)."""

    start: uint64  # initial value of the sum of keys: the bias of the suit counters
    card_key: NDArray[uint64]  # [C] rank digits and suit counter of a card; keys are added
    card_mask: NDArray[uint64]  # [C] one bit per card, 16 bits per suit; masks of a hand are added
    low_index: NDArray[uint16]  # [5**7] place among multisets of low ranks of the same size
    high_start: NDArray[uint16]  # [5**6] where the block of a multiset of high ranks starts
    flush_start: uint64  # where the flushes start in `value`
    value: NDArray[uint16]  # [multisets of n ranks + 2**13] hands without flush; ranks of a flush


class SwapTables(NamedTuple):
    """Tables by set of ranks, 13 bits, for the swap rule (`papers/ectomynx/swap_rule.py`)."""

    size: NDArray[int8]  # [2**13] number of ranks in the set
    straight: NDArray[int8]  # [2**13] highest card of the best straight, −1 if none
    draws: NDArray[uint16]  # [2**13] which of the ten runs of five ranks lack one rank (bits)
    outs: NDArray[int8]  # [2**13] number of different ranks that would make a straight
    runs_with: NDArray[uint16]  # [13] the runs that a rank belongs to (bits)


class TextureTables(NamedTuple):
    """Tables of wetness and volatility (`papers/ectomynx/textures.py`) for flop, turn and river.

    Borders are lowered by half a unit of the ninth digit, to which sums are rounded.
    """

    closeness: NDArray[float64]  # [3, 2**13] connectivity of a set of ranks
    flop_base: NDArray[float64]  # [2**13] volatility of a flop without its suits
    suited: NDArray[float64]  # [3, 6] suitedness by number of cards of a suit
    wetness_borders: NDArray[float64]  # [3, 4] infinite where a street has fewer bins
    volatility_borders: NDArray[float64]  # [2]


class LineTables(NamedTuple):
    """Tables of the streets of level players (`papers/ectomynx/betting_lines.py`).

    Q lines, E ends of streets. The ends of a line are [slots of BB, levels of BU]; its weights are
    [states, slots].
    """

    num_levels: NDArray[int64]  # [Q]
    num_slots: NDArray[int64]  # [Q]
    weight_start: NDArray[int64]  # [Q]
    slot_start: NDArray[int64]  # [Q] first slot in `leads`
    end_start: NDArray[int64]  # [Q]
    leads: NDArray[bool_]  # whether BB bets with this slot
    next: NDArray[int64]  # [E] the line that follows, or one of the negative endings
    stake: NDArray[int64]  # [E] chips that the loser of the hand has put in, if it ends
    played: NDArray[int64]  # [E, 2] levels played by BB and BU, −1 for a player that has not acted


class LevelGame(NamedTuple):
    """Tables needed to play a hand of level players."""

    ranks: RankTables
    swaps: SwapTables
    textures: TextureTables
    lines: LineTables


class DecisionTables(NamedTuple):
    """Tables of a player that chooses actions (`papers/ectomynx/decision_lines.py`); Q lines.

    A row is one decision in one state and has a place for each of four actions. Rows of betting are
    [states, positions of the line], starting at `bet_start`; rows of swaps are [states, 2, seats],
    starting at `swap_start`: whether the swap rule would keep both cards is part of the state.
    """

    stack: int64  # chips of each player
    actor: NDArray[int64]  # [2, 16] player to act, before the flop and after it, by position
    after_raise: NDArray[int64]  # [2, 16] the position after a raise, −1 if no raise is possible
    after_shove: NDArray[int64]  # [16] the position after an all-in, −1 if all chips are in already
    mark: NDArray[int64]  # [2, 16] how the street ends if it ends by a call
    preflop_sizes: NDArray[int64]  # [16] size of a raise, by position
    tenths: NDArray[int64]  # [4, 12] size of a bet in tenths of the pot, by street and texture
    num_positions: NDArray[int64]  # [Q]
    place: NDArray[int64]  # [Q, 16] place of a position among those of its line, −1 if absent
    next: NDArray[int64]  # [Q, 7] the line after a street, by how it ended; −1 if none follows
    bet_start: NDArray[int64]  # [Q]
    swap_start: NDArray[int64]  # [Q] −1 on streets without swaps


class DecisionGame(NamedTuple):
    """Tables needed to play a hand of players that choose single actions."""

    ranks: RankTables
    swaps: SwapTables
    textures: TextureTables
    lines: DecisionTables


class SwapDeal(NamedTuple):
    """Deal with all hands that swaps can lead to: two seats, four streets.

    A seat has one hand before the flop, three on it (keep, or swap either card) and nine later,
    with index 3 · (choice on the flop) + (choice on the turn).
    """

    states: NDArray[int64]  # [2, 4, 9] states of betting decisions
    swap_states: NDArray[int64]  # [2, 4, 3] of swaps, flop and turn: 2 · state + (rule keeps both)
    values: NDArray[int64]  # [2, 9] hand values at a showdown
    tenths: NDArray[int64]  # [4] size of bets and raises in tenths of the pot, by street


class DealTables(NamedTuple):
    """Case analysis of a deal pattern (`kernels/deal_tables.py`).

    A *type* says which suits are still interchangeable and how many ranks each has left. A *case*
    is one way in which the cards of a round fall on the suits of a type. P = 4 suit positions.
    """

    num_ranks: int64  # ranks of the deck; the deck holds the highest ones
    num_suits: int64  # suits of the deck; the deck holds the highest ones
    round_cards: NDArray[int64]  # [R] cards dealt in each round
    multiplicity: NDArray[int64]  # [T] raw deals that a canonical deal of this type represents
    code_start: NDArray[int64]  # [R, T] where the codes of a round and type start in case_of_code
    case_of_code: NDArray[int32]  # case of a code (counts and equalities), −1 if impossible
    case_of_class: NDArray[int32]  # [R, T, P] one-card rounds: case, by first position of the class
    case_span: NDArray[int64]  # [R, T, 2] first case of a round and type, and one past the last
    child: NDArray[int32]  # [K] type after the case
    num_locals: NDArray[int64]  # [K] number of local indices of the case
    offset: NDArray[int64]  # [R, K] deals of round r that come before the case under one parent
    size: NDArray[int64]  # [R, K] deals of round r under each deal of the case
    dealt: NDArray[uint8]  # [K, P] cards that fall on each position
    choose: NDArray[uint8]  # [K, P] k of the binomial C(v, k) of each position's set, 0 if repeated
    stride: NDArray[int64]  # [K, P] weight of that binomial in the local index
    radix: NDArray[int64]  # [K, P] number of values of the digit that position belongs to
    binomial: NDArray[int64]  # [14, 14] n choose k
    subsets: NDArray[int64]  # [1718, 5] v choose k, for ranks v of sets
    popcount: NDArray[uint8]  # [2**13]


class Treeplex(NamedTuple):
    """One player's side of a game: sequences of actions on boards, in information states.

    A plan is L numbers, round by round, board by board; the block of a board is [Q, S]: a row for
    each of the player's sequences of the round, a column for each of the player's states on the
    board. The first rows of a round are *entries* (where the round opens, one per root of its
    betting tree), then come the actions of each decision, parents before children. Boards are
    numbered through all rounds, those with the same parent contiguous.
    """

    num_sequences: NDArray[int64]  # [R] rows of a block, Q
    board_start: NDArray[int64]  # [R + 1] first board of each round
    block_start: NDArray[int64]  # [B + 1] where the block of a board starts in a plan
    num_states: NDArray[int64]  # [B] columns of the block, S
    board_parent: NDArray[int64]  # [B] board of the round before, −1 in the first round
    child_start: NDArray[int64]  # [B + 1] first board of the next round under each board
    state_start: NDArray[int64]  # [B + 1] where the board's states start in `state_parent`
    state_parent: NDArray[int32]  # [states of all boards] column in the parent board's block
    entry_start: NDArray[int64]  # [R + 1] where the round's entries start in `entry_parent`
    entry_parent: NDArray[int32]  # [E] row in the round before, −1 in the first round
    decision_start: NDArray[int64]  # [R + 1] first decision of each round
    decision_parent: NDArray[int32]  # [D] row that leads to the decision
    decision_first: NDArray[int32]  # [D] row of its first action
    decision_size: NDArray[int32]  # [D] number of its actions
    locked: NDArray[bool_]  # [D] whether its probabilities are given and fixed


class Sections(NamedTuple):
    """One player's rows of the last round in *sections*: some entries and all that follows them.

    A section is swept as a whole and fits into the cache. Rows are numbered within the section:
    entries first, then the actions of its decisions, parents first. K sections.
    """

    num_rows: NDArray[int64]  # [K]
    entry_start: NDArray[int64]  # [K + 1] where the section's entries start in `entry`
    entry: NDArray[int32]  # [E] number of each entry among those of the last round
    decision_start: NDArray[int64]  # [K + 1] first decision of each section
    decision_parent: NDArray[int32]  # [D] row that leads to the decision
    decision_first: NDArray[int32]  # [D] row of its first action
    decision_size: NDArray[int32]  # [D] number of its actions
    locked: NDArray[bool_]  # [D] whether its probabilities are given and fixed
    row: NDArray[int32]  # [D] row of its first action among the actions of the whole round
    place: NDArray[int32]  # [D] the same among the actions of the section


class LeafTables(NamedTuple):
    """Leaves of the betting tree, and their payoffs in chips."""

    fold_start: NDArray[int64]  # [R + 1] first fold of each round
    fold_rows: NDArray[int32]  # [F, 2] both players' rows
    fold_payoff: NDArray[float64]  # [F, 2] chips that each player wins
    showdown_start: NDArray[int64]  # [R + 1]
    showdown_rows: NDArray[int32]  # [Z, 2]
    showdown_stake: NDArray[float64]  # [Z] chips that the winner wins


class PairTables(NamedTuple):
    """Pairs of states that can meet, and the winner: the arrays of all three forms below.

    Kernels are compiled for one form, so an instance always has the class of its form
    (`models/leaves.py`). Arrays that a form does not use are empty. Hands are the opponent's and
    states our own; both players have the same unless the seats have lists of their own
    (`models/leaves.seat_pairs`).
    """

    is_sorted: bool_  # whether there are hands in order of value instead of matrices
    is_shared: bool_  # whether both players have the same states, so that values replace weights
    matrix_start: NDArray[int64]  # [B] where the board's matrices start
    joint: NDArray[float64]  # probability of (board, state, state)
    win: NDArray[float64]  # the same probability times the showdown's sign: win 1, tie 0, loss −1
    hand_start: NDArray[int64]  # [B + 1] where the board's hands start
    hand_state: NDArray[int32]  # the opponent's state of each hand, hands in order of value
    hand_cards: NDArray[uint8]  # [hands, 2] its cards; 52 for the second of a one-card hand
    hand_value: NDArray[int32]  # its value at a showdown; comparable on one board only
    hand_others: NDArray[int32]  # [hands, 2] number of worse and of better hands of the board
    state_start: NDArray[int64]  # [B + 1] where the board's states start in the next three
    state_size: NDArray[float32]  # number of hands that each state represents
    state_order: NDArray[int32]  # the states of each board, lowest value first
    state_cards: NDArray[uint8]  # [states, 2] in that order: the cards of one of the state's hands
    state_below: NDArray[int32]  # [states, 2] in that order: states with a lower value, or up to it
    state_hands: NDArray[int32]  # [states, 2] likewise: the board's hands with a lower value, …
    state_twin: NDArray[
        int32
    ]  # in that order: the opponent's state with that hand, or their number
    # A *tie* is the hands of a board with one card and one value; two-card hands only.
    card_hands: NDArray[uint16]  # [2 hands] states of the hands with each card, in order of value
    card_ties: NDArray[uint16]  # [B, C] number of ties of a board up to those of each card
    tie_start: NDArray[int64]  # [B + 1] where the board's ties start in `tie_end`
    tie_end: NDArray[uint16]  # [ties] number of the board's `card_hands` up to those of each tie
    state_ties: NDArray[
        uint16
    ]  # [states, 2] as `state_cards`: ties of both cards, from the board's
    weight: NDArray[float64]  # [B] probability of the board and of one pair of hands that can meet


class MatrixPairs(PairTables):
    """Pairs of states as one matrix [S0, S1] per board."""


class HandPairs(PairTables):
    """Pairs of two-card hands: the hands of a board in order of value."""


class CardPairs(PairTables):
    """Pairs of one-card hands: a card blocks only itself, so states are swept, not hands."""


class ChanceTables(NamedTuple):
    """Probabilities of boards, and of player 0's states on the boards of the last round."""

    board: NDArray[float64]  # [B] probability that a path leads through the board
    last: NDArray[float64]  # [boards of the last round] cumulative
    state: NDArray[float64]  # [states of all boards of player 0] cumulative on each board;
    # used in the last round of dense games only, empty where hands are sorted


class WalkTables(NamedTuple):
    """Betting tree as a walk needs it: V nodes, children contiguous and after their parents."""

    actor: NDArray[int64]  # [V] player to act, −1 elsewhere
    round: NDArray[int64]  # [V] counted from the tree's first round
    first_child: NDArray[int64]  # [V]
    num_children: NDArray[int64]  # [V] 0 at leaves
    row: NDArray[int64]  # [V, 2] both players' rows that lead to the node
    opens: NDArray[bool_]  # [V] whether a round opens here
    locked: NDArray[bool_]  # [V] whether the actor's probabilities are given and fixed
    fixed: NDArray[float64]  # [V] chips that player 0 wins at the leaf, whatever the cards
    contested: NDArray[float64]  # [V] chips that the winner of a showdown wins


class SeatTable(NamedTuple):
    """Stored strategy of one seat of a betting tree of V nodes.

    The probability of moving to a node c in state s is
    `probabilities[cell[j] + row[c] * width[j]]`, where j is the index of s among the states
    of all rounds, and 0 where the row is −1.
    """

    probabilities: NDArray[float64]  # [L] behaviour in the layout of the seat's treeplex
    row: NDArray[int64]  # [V] row whose action leads to each node below the seat's decisions
    state_start: NDArray[int64]  # [R] where the states of each round start
    cell: NDArray[int64]  # [states of all rounds] index of each state in row 0 of its block
    width: NDArray[int64]  # [states of all rounds] distance between the rows of its block
    threshold: float64  # probabilities below this count as zero, unless all are below it

"""What the person's decisions in a finished hand cost: the answers of the API."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class Known(BaseModel):
    """Whether something is known that takes a while to compute."""

    state: Literal["known", "working", "unknown"]
    reason: str = Field(default="", description="why it is unknown, or what is done now")
    share: float | None = Field(default=None, description="of what is done now, 0 to 1")


class ValuedAction(BaseModel):
    """An action that was possible, and what it was worth."""

    words: str
    action: str
    value: float = Field(description="chips won from the decision on; a fold is worth 0")


class Choice(BaseModel):
    """A decision of the person."""

    street: str
    before: int = Field(description="number of actions in the hand before it")
    actions: list[ValuedAction]
    taken: int = Field(description="place of the chosen action")
    cost: float = Field(description="chips; 0 if no action was worth more")
    is_exact: bool = Field(description="false: an estimate by the buckets of the opponent")


class Costs(Known):
    """What the person's decisions in a hand cost."""

    basis: str = Field(default="", description="which values these are, in a sentence")
    total: float = Field(default=0.0, description="chips")
    decisions: list[Choice] = []

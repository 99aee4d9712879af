"""Sentences about the effect of a change."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from xlagraph.planner.edits.result import DonatedParameter
from xlagraph.presentation.byte_sizes import human_bytes

__all__ = [
    "ResizedBuffers",
    "counted",
    "donated_text",
    "freed_text",
    "joined_text",
    "outcomes_text",
    "range_text",
    "recomputed_text",
    "resized_text",
    "saved_text",
]


class ResizedBuffers(NamedTuple):
    """Buffers that a change makes smaller or removes."""

    values: int
    """Number of named values in the plan."""
    followed: int
    """Number of further values that share, stack or copy their bytes."""
    buffers: int
    bytes_before: int
    bytes_after: int
    parameters: tuple[str, ...]
    """Labels of the parameters among the further values."""


def joined_text(introduction: str | None, text: str) -> str:
    """Return a sentence, after its introduction if there is one."""
    return text if introduction is None else f"{introduction}; {text}"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: `2 values`."""
    return f"{count} {noun}{'s' * (count != 1)}"


def range_text(saved_least: int, saved_most: int, why: str) -> str:
    """Return the least and the most that a change saves, or why it saves nothing."""
    if saved_least == saved_most or max(saved_least, saved_most) <= 0:
        return saved_text(saved_most, why)
    low, high = sorted((saved_least, saved_most))
    if low > 0:
        return f"saves {human_bytes(low)} to {human_bytes(high)} of reserved memory"
    return f"saves up to {human_bytes(high)} of reserved memory"


def saved_text(saved: int, why: str) -> str:
    """Return what a change saves or costs, or why it saves nothing."""
    if saved > 0:
        return f"saves {human_bytes(saved)} of reserved memory"
    if saved < 0:
        return f"costs {human_bytes(-saved)}: the values pack less tightly"
    return f"saves nothing: {why}"


def freed_text(count: int, named: int) -> str:
    """Return how many of the named values are freed earlier."""
    return (
        f"{count} of {counted(named, 'named value')} {'is' if count == 1 else 'are'} freed earlier"
    )


def recomputed_text(count: int, stacked: int, scope: str) -> str:
    """Return how many values of a scope a checkpoint recomputes."""
    text = f"{counted(count, 'value')} that {scope} keeps for the backward pass"
    if stacked:
        text += f", {stacked} of them stacked by a loop,"
    return f"{text} {'is' if count == 1 else 'are'} recomputed"


def donated_text(donated: Sequence[DonatedParameter], saving: str) -> str:
    """Return the outcomes of donated parameters, and what they save."""
    text = f"{counted(len(donated), 'parameter')}: {outcomes_text(donated)}; {saving}"
    without_result = [each.parameter for each in donated if each.outcome == "no output"]
    if without_result:
        text += f"; no free result has the shape, layout and type of {without_result[0]}"
        if len(without_result) > 1:
            text += f" or of {len(without_result) - 1} more"
    return text


def outcomes_text(donated: Sequence[DonatedParameter]) -> str:
    """Return the outcomes with their counts: `2 in place, 1 no output`."""
    counts = Counter(each.outcome for each in donated)
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.items())


def resized_text(resized: ResizedBuffers, word: str, *, is_named: bool) -> str:
    """Return which buffers become smaller; `word` is `smaller` or `removed`.

    With `is_named` the sentence counts the values that the user named.
    """
    text = ""
    if resized.followed:
        text = f"{counted(resized.values, 'named value')}, and {resized.followed} that share their"
        text += " bytes, stack or copy them: "
    elif is_named:
        text = f"{counted(resized.values, 'named value')}: "
    text += f"{counted(resized.buffers, 'buffer')} of {human_bytes(resized.bytes_before)}"
    text += f" {'is' if resized.buffers == 1 else 'are'} {word}"
    if resized.bytes_after:
        text += f", {human_bytes(resized.bytes_after)} now"
    if resized.parameters:
        more = len(resized.parameters) - 1
        text += f", including the parameter {resized.parameters[0]}"
        text += f" and {more} more" if more else ""
    return text

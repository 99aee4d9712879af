"""Sentences about the effect of a change."""

from xlagraph.presentation.byte_sizes import human_bytes

__all__ = ["counted", "joined_text", "range_text", "saved_text"]


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

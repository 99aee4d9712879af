"""Sentences about what a change of a what-if does."""

from xlagraph.presentation.byte_sizes import human_bytes

__all__ = ["counted", "joined_text", "range_text", "saved_text"]


def joined_text(introduction: str | None, text: str) -> str:
    """Return a sentence behind its introduction, if it has one."""
    return text if introduction is None else f"{introduction}; {text}"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: `2 values`."""
    return f"{count} {noun}{'s' * (count != 1)}"


def range_text(saved_least: int, saved_most: int, why: str) -> str:
    """Return what a change saves at least and at most, or why nothing."""
    if saved_least == saved_most or max(saved_least, saved_most) <= 0:
        return saved_text(saved_most, why)
    low, high = sorted((saved_least, saved_most))
    if low > 0:
        return f"saves {human_bytes(low)} to {human_bytes(high)} of what is reserved"
    return f"saves up to {human_bytes(high)} of what is reserved"


def saved_text(saved: int, why: str) -> str:
    """Return what a change saves or costs, or why nothing."""
    if saved > 0:
        return f"saves {human_bytes(saved)} of what is reserved"
    if saved < 0:
        return f"costs {human_bytes(-saved)}: the values are packed worse"
    return f"saves nothing: {why}"

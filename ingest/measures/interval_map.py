"""Byte ranges of one allocation: the owner of each byte, and the free bytes.

A slot is ``(start, end)``: the bytes from `start` up to `end`, exclusive.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Generic, TypeVar

Owner = TypeVar("Owner")
_WORD: Final = 1024
"""Bits in a word of `IntervalMap`."""


class IntervalMap(Generic[Owner]):
    """The last owner of each byte, over intervals whose bounds are known beforehand.

    Bounds are numbered in ascending order. An interval is stored at the number of its
    start. Those numbers are also kept as bits of words, which find the interval of an offset
    without moving a list of a million intervals at each cut.
    """

    def __init__(self, slots: Iterable[tuple[int, int]]) -> None:
        self._bounds = sorted({bound for slot in slots for bound in slot})
        self._number = {bound: number for number, bound in enumerate(self._bounds)}
        self._end = [0] * len(self._bounds)  # 0: no interval starts here
        self._owner: list[Owner | None] = [None] * len(self._bounds)
        self._words = [0] * (len(self._bounds) // _WORD + 1)
        self._filled_words = 0
        if self._bounds:
            self._end[0] = len(self._bounds) - 1
            self._mark(0)

    def assign(self, start: int, end: int, owner: Owner) -> list[tuple[int, int, Owner]]:
        """Assign ``[start, end)`` to `owner`; return the parts overwritten, with their owners."""
        ends, owners, bounds = self._end, self._owner, self._bounds
        first, stop = self._number[start], self._number[end]
        if not ends[first]:
            around = self._interval_before(first)
            ends[first], owners[first] = ends[around], owners[around]
            ends[around] = first
            self._mark(first)
        taken: list[tuple[int, int, Owner]] = []
        at = first
        while at < stop:
            behind = ends[at]
            if behind > stop:
                ends[stop], owners[stop] = behind, owners[at]
                self._mark(stop)
                behind = stop
            if (previous := owners[at]) is not None:
                taken.append((bounds[at], bounds[behind], previous))
            if at != first:
                ends[at] = 0
                self._unmark(at)
            at = behind
        ends[first], owners[first] = stop, owner
        return taken

    def _mark(self, number: int) -> None:
        word = number // _WORD
        self._words[word] |= 1 << number % _WORD
        self._filled_words |= 1 << word

    def _unmark(self, number: int) -> None:
        word = number // _WORD
        self._words[word] ^= 1 << number % _WORD
        if not self._words[word]:
            self._filled_words ^= 1 << word

    def _interval_before(self, number: int) -> int:
        word = number // _WORD
        bits = self._words[word] & ((1 << number % _WORD) - 1)
        if not bits:
            word = (self._filled_words & ((1 << word) - 1)).bit_length() - 1
            bits = self._words[word]
        return word * _WORD + bits.bit_length() - 1


def owned_bytes(slots: Sequence[tuple[int, int]]) -> list[int]:
    """Return how many bytes each slot keeps when the slots are written in this order."""
    owned = [end - start for start, end in slots]
    if len(slots) > 1:
        written: IntervalMap[int] = IntervalMap(slots)
        for writer, (start, end) in enumerate(slots):
            if start < end:
                for taken_start, taken_end, earlier in written.assign(start, end, writer):
                    owned[earlier] -= taken_end - taken_start
    return owned


def largest_hole(slots: Iterable[tuple[int, int]], size_bytes: int) -> int:
    """Return the length of the longest run of bytes outside all slots in ``[0, size_bytes)``."""
    largest = reached = 0
    for start, end in sorted(slots):
        if start < end:
            largest = max(largest, start - reached)
            reached = max(reached, end)
    return max(largest, size_bytes - reached)

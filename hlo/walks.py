"""Walks along edges of any graph: all that is reached, and the depth-first order."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

_Node = TypeVar("_Node", bound=Hashable)


def reached(
    starts: Iterable[_Node], following: Callable[[_Node], Iterable[_Node] | None]
) -> Iterator[_Node]:
    """Yield these nodes and all that edges lead to from them, each once and in any order."""
    waiting = list(dict.fromkeys(starts))
    found = set(waiting)
    while waiting:
        node = waiting.pop()
        yield node
        for further in following(node) or ():
            if further not in found:
                found.add(further)
                waiting.append(further)


def depth_first(starts: Iterable[int], before: Callable[[int], Sequence[int]]) -> list[int]:
    """Return the numbers depth first, each after those that must be `before` it.

    Negative numbers are left out. Edges that close a circle have no effect.
    """
    order: list[int] = []
    opened: set[int] = set()
    done: set[int] = set()
    stack = [*starts][::-1]
    while stack:
        number = stack[-1]
        if number not in done and number not in opened:
            opened.add(number)
            waiting = [each for each in before(number) if each >= 0 and each not in done]
            if waiting:
                stack += reversed(waiting)
                continue
        stack.pop()
        if number not in done:
            done.add(number)
            order.append(number)
    return order

"""Loops that run another number of times, and those whose steps one program does at once."""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from math import prod
from typing import Final, NamedTuple

from xlagraph.comparison.checkpoints import are_gradients_of_one
from xlagraph.comparison.held_values import Reserved, SourceLine, place
from xlagraph.comparison.loop_ops import BODY, Loop, Op, Ops, largest_of, loops_of
from xlagraph.hlo.grouping import grouped
from xlagraph.hlo.op_names import OF_ANY_LOOP

_LEAST_OPS: Final = 2
_LEAST_SHARE: Final = 0.5
"""Minimum number and share of the ops of the body that both programs have."""
_MOST_NESTED: Final = 4
MAPPED: Final = "jax.vmap"
"""What a program has instead of a loop over parts of arrays."""


class ChangedLoop(NamedTuple):
    """A loop that runs another number of times."""

    line: SourceLine
    turns: tuple[int, int]
    """Iterations in both programs; 0 in one that has no loop."""
    lines: frozenset[SourceLine]
    """Innermost lines of the loop and of its body, which may belong to libraries."""
    nested: tuple[int, ...] = ()
    """Iterations of the nested loops that the other program has instead, outermost first."""
    is_mapped: bool = False
    """True if the other program computes all iterations at once, with `jax.vmap`."""

    @property
    def place(self) -> str:
        """File and line of the loop."""
        return place(self.line)

    @property
    def steps(self) -> tuple[str, str]:
        """Iterations in both programs, those of nested loops as ``10 × 10``, or `MAPPED`."""
        nested = " × ".join(map(str, self.nested))
        before, after = (str(each) if each or not self.is_mapped else MAPPED for each in self.turns)
        if not nested:
            return before, after
        return (before, nested) if self.turns[0] > self.turns[1] else (nested, after)


class LoopTurns(NamedTuple):
    """Loops that run another number of times in two programs."""

    unrolled: list[ChangedLoop]
    """Loops that run less often in one program, because that program computes several steps, also
    in nested loops, or all of them at once."""
    others: list[ChangedLoop]


def loop_turns(a: Reserved, b: Reserved) -> LoopTurns:
    """Return the loops that run another number of times.

    A loop is the same in both programs if it has the same line and scopes, or if only one loop of
    the file with these scopes is left, and most ops of its body are the same. It is unrolled if the
    program that runs it less often has the ops of its body so much more often, or stacks with a
    dimension for the steps of an iteration: ``f32[255,8]`` is then ``f32[63,4,8]``. Instead of a
    loop, a program may have the ops of its body in one `jax.vmap` more, on all elements.
    """
    found = LoopTurns([], [])
    ops_a, ops_b = Ops(a), Ops(b)
    # gradients of one program keep other values of the same lines than an unrolled loop
    have_same_passes = not are_gradients_of_one(a.values, b.values)
    pairs = list(_pairs(loops_of(a), loops_of(b)))
    moved = _moved(pairs)
    for before, after in pairs:
        turns = before.iterations if before else 0, after.iterations if after else 0
        if turns[0] == turns[1] or 0 in (before and turns[0], after and turns[1]):
            continue  # XLA does not know how often it runs
        more, less, sides, ops = before, after, (a, b), (ops_a, ops_b)
        if turns[1] > turns[0]:
            more, less, sides, ops = after, before, (b, a), (ops_b, ops_a)
        if more is None:  # for the type checker: a loop that runs more often exists
            continue
        both = [loop for loop in (more, less) if loop]
        lines = {line for loop in both for line in (loop.line, *(op[0] for op in loop.ops))}
        changed = ChangedLoop((after or more).line, turns, frozenset(lines))
        new = [x or y for x, y in pairs if not (x if turns[0] > turns[1] else y)]
        nest = _nest(more, less, [loop for loop in new if loop]) if less else ()
        if nest and have_same_passes:
            nested = tuple(loop.iterations for loop in nest)
            found.unrolled.append(changed._replace(nested=nested))
        elif have_same_passes and less is None and _is_mapped(more, *ops):
            found.unrolled.append(changed._replace(is_mapped=True))
        elif less is None and _place_scopes_and_turns(more) in moved:
            continue
        elif have_same_passes and not nest and _is_unrolled(more, less, sides, ops):
            found.unrolled.append(changed)
        # `jax.random` has loops, in functions such as `_shuffle`
        elif not any(name.startswith("_") for name in more.scopes):
            found.others.append(changed)
    return found._replace(others=_without_renamed(_without_moved(found.others), a, b))


def _moved(pairs: Iterable[tuple[Loop | None, Loop | None]]) -> set[Hashable]:
    """Return what as many loops of both programs have that only differ in the loops around them.

    Their bodies may have other ops, such as those of all iterations of a new loop around them.
    """
    gone, new = Counter[Hashable](), Counter[Hashable]()
    for before, after in pairs:
        if before and after is None:
            gone[_place_scopes_and_turns(before)] += 1
        elif after and before is None:
            new[_place_scopes_and_turns(after)] += 1
    return {key for key, count in gone.items() if new[key] == count}


def _without_moved(loops: Sequence[ChangedLoop]) -> list[ChangedLoop]:
    """Leave out loops that are gone at a line where as many with as many iterations are new."""
    counts = Counter((loop.place, *loop.turns) for loop in loops)
    return [
        loop
        for loop in loops
        if counts[loop.place, *loop.turns] != counts[loop.place, *loop.turns[::-1]]
    ]


def _without_renamed(loops: Sequence[ChangedLoop], a: Reserved, b: Reserved) -> list[ChangedLoop]:
    """Leave out loops that only one program has, though in both as many run so often.

    Another version of JAX names their scopes and lines differently.
    """
    counts = Counter(a.turns.values()), Counter(b.turns.values())
    return [
        loop
        for loop in loops
        if min(loop.turns) or counts[0][max(loop.turns)] != counts[1][max(loop.turns)]
    ]


def _pairs(a: list[Loop], b: list[Loop]) -> Iterator[tuple[Loop | None, Loop | None]]:
    """Return loops with their partners in the other program; None for those without one."""
    for key_of in (_place_and_scopes, _place_and_own_scopes, _file_and_scopes, _scopes):
        counts = [Counter(map(key_of, side)) for side in (a, b)]
        found = {key_of(loop): loop for loop in b}
        for loop in list(a):
            key = key_of(loop)
            if any(count[key] != 1 for count in counts):
                continue
            partner = found[key]
            is_same_line = loop.line == partner.line
            if key_of is _place_and_own_scopes:  # that of another loop may have moved there
                is_same_line &= not (loop.ops and partner.ops)
            if is_same_line or _have_same_body(loop, partner):
                yield loop, partner
                a.remove(loop)
                b.remove(partner)
    # several loops of one file with the same scopes, whose lines an edit moved
    of_b = grouped((_file_and_scopes(loop), loop) for loop in b)
    for key, before in grouped((_file_and_scopes(loop), loop) for loop in a).items():
        both = [sorted(loops, key=lambda loop: loop.line) for loops in (before, of_b.get(key, ()))]
        if len(both[0]) == len(both[1]):
            yield from zip(*both, strict=True)
            a, b = ([x for x in side if x not in of] for side, of in zip((a, b), both, strict=True))
    yield from ((loop, None) for loop in a)
    yield from ((None, loop) for loop in b)


def _place_and_scopes(loop: Loop) -> Hashable:
    return loop.line, loop.scopes


def _place_and_own_scopes(loop: Loop) -> Hashable:
    # a loop in another one, which the other program may not have
    return loop.line, tuple(name for name in loop.scopes if name not in OF_ANY_LOOP)


def _place_scopes_and_turns(loop: Loop) -> Hashable:
    return _place_and_own_scopes(loop), loop.iterations


def _file_and_scopes(loop: Loop) -> Hashable:
    return loop.line[0], loop.scopes


def _scopes(loop: Loop) -> Hashable:
    return loop.scopes  # of a file that was renamed


def _have_same_body(a: Loop, b: Loop) -> bool:
    """Return True if most ops of two loops are the same, wherever their lines are."""
    before, after = ({op for _, op in loop.ops} for loop in (a, b))
    return len(before & after) * 2 > len(before | after)


def _is_unrolled(
    more: Loop, less: Loop | None, sides: tuple[Reserved, Reserved], ops: tuple[Ops, Ops]
) -> bool:
    steps = more.iterations // (less.iterations if less else 1)
    if steps < 2 or (less and more.iterations // steps != less.iterations):
        return False
    if less is None:  # of a loop in another one, the steps may be in that one
        candidates = (ops[1].outside, _ops_within(more, *ops))
        return any(_repeat(more.ops, repeated, steps, (1, 1)) for repeated in candidates)
    once, repeated = more.ops, less.ops
    if more.line != less.line:
        once, repeated = _without_lines(more.ops), _without_lines(less.ops)
    counts = (more.iterations, less.iterations, steps)
    loops = len(more.names), len(less.names)
    return _repeat(once, repeated, steps, loops) or _have_steps(*sides, counts)


def _is_mapped(loop: Loop, of_loop: Ops, other: Ops) -> bool:
    """Return True if another program computes most ops of a body for all iterations at once."""
    inside, outside = largest_of(of_loop.in_body(loop)), other.largest
    common = inside.keys() & outside.keys()
    mapped = [op for op in common if outside[op].vmaps > inside[op].vmaps]
    # of the others, fusions hide the values of all elements
    whole = [op for op in mapped if outside[op].elements == loop.iterations * inside[op].elements]
    return len(whole) >= _LEAST_OPS and len(mapped) >= _LEAST_SHARE * len(common)


def _nest(more: Loop, less: Loop, new: Sequence[Loop]) -> Sequence[Loop]:
    """Return the nested loops with all steps of one that runs more often; none if there are none.

    They are one that runs less often, and new ones around or within it.
    """
    new = [loop for loop in new if loop.iterations > 1]
    for count in range(1, _MOST_NESTED):
        for others in combinations(new, count):
            nest = sorted((less, *others), key=lambda loop: len(loop.scopes))
            are_nested = all(
                inner.scopes[: len(outer.scopes) + 1] == (*outer.scopes, BODY)
                for outer, inner in pairwise(nest)
            )
            if are_nested and prod(loop.iterations for loop in nest) == more.iterations:
                return nest
    return ()


def _repeat(once: Counter[Op], repeated: Counter[Op], steps: int, loops: tuple[int, int]) -> bool:
    """Return True if most ops of a body are repeated; fusions join ops of several steps.

    ``loops``: numbers of loops from whose bodies the two sides' ops are counted.
    """
    common = once.keys() & repeated.keys()
    of_common = sum(once[op] for op in common)
    return (
        len(common) >= _LEAST_OPS
        and of_common >= _LEAST_SHARE * once.total()
        and sum(repeated[op] for op in common) * loops[0] >= of_common * loops[1] * (1 + steps) / 2
    )


def _without_lines(ops: Mapping[Op, int]) -> Counter[Op]:
    """Return the ops without lines, which an edit of the file moved."""
    found: Counter[Op] = Counter()
    for (_, op), count in ops.items():
        found[("", 0), op] += count
    return found


def _have_steps(more: Reserved, less: Reserved, counts: tuple[int, int, int]) -> bool:
    """Return True if a stack of one program has a dimension for the steps in the other one."""
    turns, fewer, steps = counts
    stacks = {value.shape for value in more.values if value.stack_turns == turns}
    split = {value.shape for value in less.values if value.stack_turns == fewer}
    return any(
        shape.replace(f"[{fewer},{steps}", f"[{turns}", 1) in stacks
        for shape in split
        if re.search(rf"\[{fewer},{steps}\b", shape)
    )


def _ops_within(loop: Loop, of_loop: Ops, other: Ops) -> Counter[Op]:
    """Return those ops of a body that another program has more often than this one elsewhere."""
    elsewhere = {op: of_loop.all[op] - count for op, count in loop.ops.items()}
    return Counter(
        {op: more for op in loop.ops if (more := other.all[op] - max(elsewhere[op], 0)) > 0}
    )

"""Name the first line of the program's own functions at which two programs differ.

    forward:28  relu(dense(x))         of one program
    forward:28  dense(x)               of the other one
    forward:29  tanh

What a line does is what it calls and the ops that it makes itself, so a function that is called
less often differs only where it was called. As other lines move with each edit, the lines of a
function are aligned by what they do. Of several differences, what runs first counts: the others
may follow from it, as XLA drops what nothing reads and what is constant.
"""

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from difflib import SequenceMatcher
from itertools import chain, takewhile
from pathlib import PurePath
from typing import Final, NamedTuple

from xlagraph.comparison.call_sites import CallSite, from_innermost, with_common_files
from xlagraph.comparison.called_functions import MOVING
from xlagraph.comparison.held_values import Reserved, place
from xlagraph.comparison.own_lines import (
    COMMON,
    COMPARING,
    OwnFunction,
    OwnItem,
    OwnLine,
    OwnLines,
    OwnPath,
    gathered,
    is_in_gradient,
    last_name,
    own_lines,
)
from xlagraph.comparison.reasons import CHECKPOINTS, MORE, FoundReasons, ReasonKind, Subject
from xlagraph.hlo.metadata import from_packages, is_installed
from xlagraph.hlo.op_names import OF_ANY_LOOP, scope_names

_MOST_LINES: Final = 3
"""Maximum number of lines whose gradients are named."""


class _Difference(NamedTuple):
    path: OwnPath
    """Lines of the functions that call the line, and its own."""
    line: OwnLine
    gone: frozenset[str]
    new: frozenset[str]
    pairs: tuple[tuple[OwnLine, OwnLine], ...] = ()
    """The differing lines of both programs in their order, if both have as many."""
    places: frozenset[str] = frozenset()
    """The differing lines of both programs, as ``train.py:28``."""
    callers: Set[OwnItem] = frozenset()
    """Calls around all that is gone or new, if only one program has more."""
    is_elsewhere: bool = False
    """True if other lines of the function do all that is gone or new in both programs."""
    last: int | None = None
    """Last of the lines that do what is new, or gone."""

    def place(self) -> tuple[bool, OwnPath, OwnFunction]:
        """Return what differences are sorted by: when the line runs, and its function.

        A line of ops that most functions have (`COMMON`) comes last: it may follow from others.
        """
        return self.gone | self.new <= COMMON, self.path, self.line.function

    def calls(self, other: "_Difference") -> bool:
        """Return True if another line runs within this one, which only has more or less."""
        is_within = other.path[: len(self.path)] == self.path and len(other.path) > len(self.path)
        return is_within and not (self.gone and self.new)

    def contains(self, other: "_Difference") -> bool:
        """Return True if what another line has more or less is in a call that only one has here."""
        calls = {(self.line.function, item) for item in self.gone | self.new}
        return not calls.isdisjoint(other.callers)

    @property
    def is_common_of_one(self) -> bool:
        return any(self.is_common(is_new=each) for each in (True, False))

    def is_common(self, *, is_new: bool) -> bool:
        """Return True if only one program has ops here, all of which many functions have."""
        more, less = (self.new, self.gone) if is_new else (self.gone, self.new)
        return not less and more <= COMMON


def name_edited_lines(sides: tuple[Reserved, Reserved], reasons: FoundReasons) -> None:
    """Name the first line that differs, or else the first ones with gradients in one program.

    Of equal ops, XLA leaves as many as have different shardings, so that those of other inputs are
    no edit.
    """
    if any(each.is_resharded for each in reasons.found.values()):
        return
    sites = with_common_files(*(side.mentions.call_sites for side in sides))
    if not all(each.known for each in sites):
        return
    # where these are called is not known of both programs
    unsure = sites[0].unknown | sites[1].unknown
    cut = sites[0].cut | sites[1].cut
    hidden = sites[0].hidden | sites[1].hidden
    unsure |= {last_name(name) for name in (*hidden, *(name or "" for _, name in cut))}
    forward, backward = (
        tuple(own_lines(each.known, unsure, cut, of_backward=of_backward) for each in sites)
        for of_backward in (False, True)
    )
    copied = sites[0].copied
    same, differences, moved = _aligned(*forward, copied=copied)
    pairs = [*same, *(pair for each in differences for pair in each.pairs)]
    for side, word in ((1, "new"), (0, "gone")):
        more, less = backward[side], backward[1 - side]
        of_one = [
            pair
            for pair in pairs
            if pair[side] in more.items
            and pair[1 - side] not in less.items
            and not any(
                is_in_gradient(line, *passes)
                for line, *passes in zip(pair, forward, backward, strict=True)
            )
        ]
        paths = {more.paths[pair[side]]: pair[side] for pair in of_one}
        # what calls a function of which this is said follows from it
        callers = {path[:length] for path in paths for length in range(1, len(path))}
        lines = [paths[path] for path in sorted(paths.keys() - callers)]
        shown = lines if side else [_in_copy(line, copied) for line in lines]
        # XLA drops a product with what is constant in one program only
        is_gradient = any(not COMMON.issuperset(more.done(line)) for line in lines)
        # the forward pass computes something only for a backward pass
        if is_gradient and all(
            set(each.pairs) & set(of_one) and each.is_common(is_new=word == "new")
            for each in differences
        ):
            reason = reasons.of(ReasonKind.EDITED, before="backward", after=word)
            reason.scopes = {_place(line) for line in shown[:_MOST_LINES]}
            reason.count_a = reason.count_b = len(lines)
            return
    moves = (own_lines(each.known, unsure, cut, of_backward=False, of_moves=True) for each in sites)
    if not differences:
        _, takes, _ = _aligned(*moves, copied=copied)
        # which parts are taken follows from shapes, too
        differences = [each for each in takes if not each.is_elsewhere]
    if not differences:
        # JAX may leave callers out of a call stack, but its innermost line of the program is known
        inner = (
            {
                site
                for site in map(from_innermost, each.known | each.of_cut)
                if site.outermost in cut
            }
            for each in sites
        )
        _, of_cut, _ = _aligned(
            *(own_lines(each, unsure, frozenset(), of_backward=False) for each in inner),
            copied=copied,
        )
        # which one runs first is known of lines of one function only
        differences = of_cut if len({each.line.function for each in of_cut}) == 1 else []
    a, b = forward
    moved += [
        _Difference(b.paths[of_b], of_b, *(frozenset(b.done(of_b)),) * 2)
        for of_a, of_b in same
        # of lines that are paired, one may have a condition more
        if a.in_order(of_a) != b.in_order(of_b) and a.done(of_a) == b.done(of_b)
    ]
    differences = differences or moved
    if sites[0].positions == sites[1].positions:
        # no line has another text: which common ops are left of it may follow from the compiler
        differences = [x for x in differences if not x.is_common_of_one]
    differences = [x for x in differences if not any(each.contains(x) for each in differences)]
    # what a checkpoint recomputes is not compared: a program without it seems to have more
    added, removed = (Subject(kind) in reasons.found for kind in CHECKPOINTS)
    differences = [x for x in differences if (x.new or not added) and (x.gone or not removed)]
    innermost = [each for each in differences if not any(map(each.calls, differences))]
    first = min(innermost, key=_Difference.place, default=None)
    if first is None:
        _name_line_of_library(sites[0].known, sites[1].known, unsure, reasons)
    else:
        after = _moved(first, differences) or (MORE if first.is_elsewhere else "")
        reason = reasons.of(ReasonKind.EDITED, after=after)
        reason.scopes, reason.inputs = gathered(first.pairs, moves, (first.gone, first.new))
        reason.labels = {_place(first.line, first.last)}
        loops = reasons.found.get(Subject(ReasonKind.TURNS))
        if loops and len(loops.turns) == 1 and loops.scopes <= first.places:
            reason.turns = {each for each in loops.turns if 0 in each}


def _moved(first: _Difference, differences: Iterable[_Difference]) -> str:
    """Return the line of another function that does what one no longer does, or the reverse."""
    if bool(first.gone) is bool(first.new):
        return ""
    for other in differences:
        to, back = first.gone and other.new, first.new and other.gone
        if first.gone | first.new == (to or back) and not (other.gone and other.new):
            return f"{'to' if to else 'from'} {_place(other.line)}"
    return ""


def _name_line_of_library(
    a: Iterable[CallSite], b: Iterable[CallSite], unsure: Set[str], reasons: FoundReasons
) -> None:
    """Name the only line of a library that makes other ops, and the own line that calls it.

    It calls what it is given, such as an optimizer of JAX, which hides its own frames.
    """
    made_a, made_b = (_made_by_library(each, unsure) for each in (a, b))
    found = [
        (line, made_a[line] - made_b[line], made_b[line] - made_a[line])
        for line in made_a.keys() & made_b.keys()
        if not made_a[line].isdisjoint(made_b[line]) and not made_a[line] ^ made_b[line] <= COMMON
    ]
    # which ops XLA leaves follows from the sizes of inputs
    is_resized = any(each.input_example for each in reasons.found.values())
    if len(found) == 1 and not is_resized:
        ((line, gone, new),) = found
        reason = reasons.of(ReasonKind.EDITED)
        reason.scopes, reason.inputs, reason.labels = gone, new, {line}


def _made_by_library(sites: Iterable[CallSite], unsure: Set[str]) -> dict[str, set[str]]:
    """Return the ops of each line of a library, with the line that calls it."""
    found: dict[str, set[str]] = {}
    for site in sites:
        own = list(takewhile(lambda frame: not is_installed(frame.file or ""), site.frames))
        frames = site.frames[len(own) :]
        if site.function or not all(is_installed(each.file or "") for each in frames):
            continue
        if not own or not frames:
            continue
        caller, last = own[-1], frames[-1]
        line = f"{from_packages(last.file or '')}:{last.line} ({last.function})"
        called = place((caller.file or "", caller.line or 0))
        # a joined name is of no one op
        ops = {op for op in scope_names(site.op_name)[-1:] if op.isidentifier()}
        found.setdefault(f"{line}, called at {called}", set()).update(
            ops - unsure - MOVING - COMPARING - OF_ANY_LOOP
        )
    return found


def _aligned(
    a: OwnLines, b: OwnLines, *, copied: str | None
) -> tuple[list[tuple[OwnLine, OwnLine]], list[_Difference], list[_Difference]]:
    """Return the lines that do the same in both programs, where others differ, and those moved."""
    same: list[tuple[OwnLine, OwnLine]] = []
    differences: list[_Difference] = []
    moved: list[_Difference] = []
    for function in a.functions & b.functions:
        of_a, of_b = a.of(function), b.of(function)
        done = [a.done(line) for line in of_a], [b.done(line) for line in of_b]
        # a line may be aligned with another one that does the same
        all_a, all_b = (Counter(chain.from_iterable(each)) for each in done)
        of_both = all_a.keys() & all_b.keys()
        for tag, start_a, end_a, start_b, end_b in SequenceMatcher(
            None, *done, autojunk=False
        ).get_opcodes():
            pairs = tuple(zip(of_a[start_a:end_a], of_b[start_b:end_b], strict=False))
            if tag == "equal":
                same += pairs
                continue
            before, after = (
                Counter(chain.from_iterable(each))
                for each in (done[0][start_a:end_a], done[1][start_b:end_b])
            )
            gone = (before - after) & (all_a - all_b)
            new = (after - before) & (all_b - all_a)
            is_paired = end_a - start_a == end_b - start_b
            # the line of the second program that does what is new; of the first one if it had more
            is_of_b = is_paired or bool(new) or COMPARING.issuperset(gone)
            is_of_b &= end_b > start_b
            lines, shown = (b, of_b[start_b:end_b]) if is_of_b else (a, of_a[start_a:end_a])
            said = {*(new or gone)} - COMMON or {*(new or gone)}
            doing = [each for each in shown if said & {*lines.done(each)}] or shown[:1]
            line, last = doing[0], doing[-1].number
            path = lines.paths[line]
            if lines is a:
                line = _in_copy(line, copied)
            if COMPARING.issuperset({*gone, *new}):
                if COMPARING.issuperset(chain(before - after, after - before)):
                    same += pairs if is_paired else ()
                elif end_b > start_b:
                    moved.append(_Difference(path, line, *(frozenset(lines.done(line)),) * 2))
                continue
            if _can_be_moved(done[0], start_a, end_a) or _can_be_moved(done[1], start_b, end_b):
                line = line._replace(number=None)
            places = (
                place((line.function[0], line.number or 0))
                for line in (*of_a[start_a:end_a], *of_b[start_b:end_b])
            )
            callers: Set[OwnItem] = frozenset()
            if not (gone and new):
                more, lines_of = (a, of_a[start_a:end_a]) if gone else (b, of_b[start_b:end_b])
                callers = more.callers(lines_of, {*gone, *new})
            differences.append(
                _Difference(
                    path,
                    line,
                    frozenset(gone),
                    frozenset(new),
                    pairs if is_paired else (),
                    frozenset(places),
                    callers,
                    of_both >= {*gone, *new},
                    last,
                )
            )
    return same, differences, moved


def _can_be_moved(done: Sequence[tuple[str, ...]], start: int, end: int) -> bool:
    """Return True if the line before or after some does the same, so that it may differ."""
    before, after = done[start - 1 : start] if start else [], done[end : end + 1]
    return end > start and (done[end - 1 : end] == before or done[start : start + 1] == after)


def _in_copy(line: OwnLine, copied: str | None) -> OwnLine:
    """Return a line of the first program, without its number if the second copies its file."""
    return line._replace(number=None) if line.function[0] == copied else line


def _place(line: OwnLine, last: int | None = None) -> str:
    file, function = line.function
    number = "" if line.number is None else f":{line.number}"
    number += f"-{last}" if number and last and last != line.number else ""
    return f"{PurePath(file).name}{number} ({function.rpartition('.<locals>.')[2]})"

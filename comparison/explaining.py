"""Explain the growth between compilations; each byte of growth has one reason."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import prod
from typing import Final

from xlagraph.comparison.checkpoints import ChangedCheckpoints, changed_checkpoints
from xlagraph.comparison.held_values import HeldValue, Reserved, ReservedPart
from xlagraph.comparison.reasons import Reason, ReasonKind, Subject
from xlagraph.comparison.value_matching import Matching, match_values
from xlagraph.hlo.op_names import has_checkpoint, primitive, scope_names
from xlagraph.hlo.shapes import dimensions

__all__ = ["explain_pair", "merge_reasons"]

_UNMATCHED: Final = {
    ReservedPart.INPUTS: ReasonKind.INPUTS,
    ReservedPart.OUTPUTS: ReasonKind.OUTPUTS,
    ReservedPart.CONSTANTS: ReasonKind.CONSTANTS,
    ReservedPart.LIVE: ReasonKind.REPLACED,
}


def explain_pair(a: Reserved, b: Reserved) -> list[Reason]:
    """Return the reasons for the growth from one compilation to another.

    Their growths add up to the growth of the reserved bytes. Changed checkpoints and donations
    are always included, even without growth.
    """
    return _Explanation(a, b).reasons()


def merge_reasons(reasons: Iterable[Reason]) -> list[Reason]:
    """Return one reason for each subject, with its growths added up."""
    merged: dict[Subject, Reason] = {}
    for reason in reasons:
        if known := merged.get(reason.subject):
            known.merge(reason)
        else:
            merged[reason.subject] = reason
    return list(merged.values())


class _Explanation:
    def __init__(self, a: Reserved, b: Reserved) -> None:
        self.a, self.b = a, b
        self.matching: Matching = match_values(a.values, b.values)
        self.checkpoints: ChangedCheckpoints = changed_checkpoints(a.values, b.values)
        self.found: dict[Subject, Reason] = {}
        self.scopes_a, self.scopes_b = _all_scopes(a.values), _all_scopes(b.values)
        # sizes of outputs that may start or stop sharing the bytes of an input
        self.undonated = Counter(
            y.held_bytes for x, y in self.matching.pairs if x.is_donated and not y.is_donated
        )
        self.donated = Counter(
            x.held_bytes for x, y in self.matching.pairs if y.is_donated and not x.is_donated
        )
        self.counts = (self.undonated.total(), self.donated.total())

    def of(self, kind: ReasonKind, **subject: str | float) -> Reason:
        key = Subject(kind, **subject)  # type: ignore[arg-type]
        return self.found.setdefault(key, Reason(key))

    def reasons(self) -> list[Reason]:
        for a, b in self.matching.pairs:
            if a.held_bytes != b.held_bytes:
                self._reason_of_pair(a, b).count(a, b)
        for value in self.matching.only_a:
            if value.held_bytes or _is_copy(value):
                self._reason_of_one(value, is_new=False).count(value, None)
        for value in self.matching.only_b:
            if value.held_bytes or _is_copy(value):
                self._reason_of_one(value, is_new=True).count(None, value)
        self._count_donations()
        self._count_checkpoints()
        is_all_equal = not any(reason.growth_bytes for reason in self.found.values())
        for kind, growth_bytes in (
            (ReasonKind.IDLE, self.b.idle_bytes - self.a.idle_bytes),
            (ReasonKind.FRAGMENTATION, self.b.fragmentation_bytes - self.a.fragmentation_bytes),
            (ReasonKind.UNKNOWN, self.b.unknown_bytes - self.a.unknown_bytes),
        ):
            if growth_bytes:
                reason = self.of(kind)
                reason.growth_bytes = growth_bytes
                reason.only_reason = is_all_equal
        return list(self.found.values())

    def _reason_of_pair(self, a: HeldValue, b: HeldValue) -> Reason:
        if (
            a.part is ReservedPart.INPUTS
            and b.part is ReservedPart.OUTPUTS
            and self._take(self.undonated, b)
        ):
            return self.of(ReasonKind.UNDONATED)
        if (
            a.part is ReservedPart.OUTPUTS
            and b.part is ReservedPart.INPUTS
            and self._take(self.donated, a)
        ):
            return self.of(ReasonKind.DONATED)
        if a.part is not b.part:
            return self.of(ReasonKind.PLACED)
        if a.shape != b.shape:
            elements_a, elements_b = (prod(dimensions(value.shape) or ()) for value in (a, b))
            if elements_a == elements_b and a.dtype != b.dtype:
                return self.of(ReasonKind.DTYPE, before=a.dtype or "", after=b.dtype or "")
            return self.of(ReasonKind.SIZE, factor=elements_b / elements_a if elements_a else 0.0)
        if a.part is ReservedPart.LIVE and (change := self.checkpoints.around(b)):
            return self.of(change)
        return self.of(ReasonKind.PEAK if a.size_bytes == b.size_bytes else ReasonKind.PADDING)

    def _reason_of_one(self, value: HeldValue, *, is_new: bool) -> Reason:
        if _is_copy(value):
            return self.of(ReasonKind.COPIES)
        if value.part is ReservedPart.OUTPUTS:
            if is_new and self._take(self.undonated, value):
                return self.of(ReasonKind.UNDONATED)
            if not is_new and self._take(self.donated, value):
                return self.of(ReasonKind.DONATED)
        if value.part is ReservedPart.LIVE:
            if change := self.checkpoints.around(value):
                return self.of(change)
            others = self.scopes_a if is_new else self.scopes_b
            unknown = [name for name in scope_names(value.op_name)[:-1] if name not in others]
            if unknown:
                kind = ReasonKind.SCOPE_NEW if is_new else ReasonKind.SCOPE_GONE
                reason = self.of(kind, after=re.sub(r"\d+", "*", unknown[0]))
                reason.scopes.add(unknown[0])
                return reason
            if value.dtype and primitive(value.op_name) == "convert_element_type":
                return self.of(ReasonKind.CASTS, after=value.dtype)
        return self.of(_UNMATCHED[value.part])

    def _take(self, sizes: Counter[int], value: HeldValue) -> bool:
        """Return True if a donation of that size is still unexplained; count it as explained."""
        if sizes[value.held_bytes] <= 0:
            return False
        sizes[value.held_bytes] -= 1
        return True

    def _count_donations(self) -> None:
        undonated, donated = self.counts
        for kind, count in ((ReasonKind.UNDONATED, undonated), (ReasonKind.DONATED, donated)):
            if count:
                reason = self.of(kind)
                reason.count_a = reason.count_b = count
        if bool(undonated) is not bool(donated):
            # temporaries may share the allocation that an output has again
            reason = self.of(ReasonKind.UNDONATED if undonated else ReasonKind.DONATED)
            if placed := self.found.pop(Subject(ReasonKind.PLACED), None):
                reason.placed_bytes = placed.growth_bytes
                reason.growth_bytes += placed.growth_bytes

    def _count_checkpoints(self) -> None:
        for kind, scopes, values in (
            (ReasonKind.UNCHECKPOINTED, self.checkpoints.gone, self.a.values),
            (ReasonKind.CHECKPOINTED, self.checkpoints.new, self.b.values),
        ):
            if scopes:
                reason = self.of(kind)
                reason.scopes = {"/".join(scope) for scope in scopes}
                reason.count_a = reason.count_b = sum(
                    self.checkpoints.around(value) is not None and has_checkpoint(value.op_name)
                    for value in values
                )


def _all_scopes(values: Sequence[HeldValue]) -> frozenset[str]:
    op_names = {value.op_name for value in values}
    return frozenset(name for op_name in op_names for name in scope_names(op_name)[:-1])


def _is_copy(value: HeldValue) -> bool:
    is_target = value.opcode == "copy-start" and value.shape_index == "{0}"
    return value.part is ReservedPart.LIVE and (value.opcode == "copy" or is_target)

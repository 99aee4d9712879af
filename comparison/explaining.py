"""Explain the growth between compilations; each byte of growth has one reason."""

from collections import Counter
from typing import Final

from xlagraph.comparison.argument_names import pattern
from xlagraph.comparison.called_functions import name_called
from xlagraph.comparison.changed_donations import donated_by_one, results_in_inputs
from xlagraph.comparison.changed_loops import ChangedLoops
from xlagraph.comparison.checkpoints import (
    ChangedCheckpoints,
    changed_checkpoints,
    checkpointed_parts,
)
from xlagraph.comparison.collectives import name_collectives
from xlagraph.comparison.compilers import name_platform, name_version
from xlagraph.comparison.edited_lines import name_edited_lines
from xlagraph.comparison.held_values import HeldValue, Reserved, ReservedPart
from xlagraph.comparison.independent_sizes import name_second_input
from xlagraph.comparison.joined_loops import join_unrolled, limit_checkpoints, name_turns
from xlagraph.comparison.joined_reasons import (
    Sides,
    branches_of,
    join_element_type,
    join_fusions,
    join_loops,
    join_order,
    join_placed,
    join_split,
    looped,
    name_first,
    name_inputs,
)
from xlagraph.comparison.library_calls import (
    count_libraries,
    is_made_by_one,
    libraries,
    library,
    resized,
)
from xlagraph.comparison.loop_turns import ChangedLoop, loop_turns
from xlagraph.comparison.new_code import name_new_code
from xlagraph.comparison.reasons import MORE, FoundReasons, Reason, ReasonKind, Subject
from xlagraph.comparison.repeated_ops import name_repeated_ops
from xlagraph.comparison.replaced_values import join_scopes, leave_out_numbers
from xlagraph.comparison.size_changes import element_factor, grows_more, without_ones
from xlagraph.comparison.value_matching import Matching, match_values
from xlagraph.hlo.op_names import has_checkpoint, loop_depth, primitive, scope_names, stem

_UNMATCHED: Final = {
    ReservedPart.INPUTS: ReasonKind.INPUTS,
    ReservedPart.OUTPUTS: ReasonKind.OUTPUTS,
    ReservedPart.CONSTANTS: ReasonKind.CONSTANTS,
    ReservedPart.LIVE: ReasonKind.REPLACED,
}
_KEPT_BY_POLICY: Final = "reduce_precision"
"""Primitive that JAX puts after what the policy of a checkpoint keeps."""


def explain_pair(a: Reserved, b: Reserved) -> list[Reason]:
    """Return the reasons for the growth from one compilation to another.

    Their growths add up to the growth of the reserved bytes. Changed checkpoints and donations
    are always included, even without growth. If the peak of one is unknown, that of the other
    explains nothing.
    """
    if bool(a.unknown_bytes) is not bool(b.unknown_bytes):
        a, b = a.without_peak(), b.without_peak()
    return _Explanation(a, b).reasons()


class _Explanation:
    def __init__(self, a: Reserved, b: Reserved) -> None:
        self.a, self.b = a, b
        self.matching: Matching = match_values(a.values, b.values)
        self.turns = loop_turns(a, b)
        self.loops = ChangedLoops(a.values, b.values)
        self.checkpoints: ChangedCheckpoints = changed_checkpoints(
            a, b, self.loops, are_unrolled=bool(self.turns.unrolled)
        )
        self.reasons_found = FoundReasons()
        self.found, self.of = self.reasons_found.found, self.reasons_found.of
        self.sides = Sides(a, b, self.matching)
        self.results = {value.shape for value in b.values if value.is_result}
        self.scopes_a, self.scopes_b = _all_scopes(a), _all_scopes(b)
        self.have_checkpoints = all(
            any(has_checkpoint(value.op_name) for value in side.values) for side in (a, b)
        )
        is_ported = name_platform((a, b), self.reasons_found)
        self.is_other_version = name_version((a, b), self.reasons_found)
        # which ops XLA gives to a library follows from how many elements they compute at once
        is_other = is_ported or any(loop.is_mapped for loop in self.turns.unrolled)
        self.libraries = frozenset() if is_other else libraries(a.values) ^ libraries(b.values)
        self.resized = resized(self.libraries, self.matching.pairs)
        self.library_ops = {
            stem(value.op_name)
            for value in (*a.values, *b.values)
            if library(value) in self.libraries and value.op_name
        }
        undonated, donated = (donated_by_one(self.matching, before=each) for each in (True, False))
        self.undonated, self.donated = ([x for x, _ in each] for each in (undonated, donated))
        # sizes of outputs that may start or stop sharing an input's bytes
        self.undonated_sizes, self.donated_sizes = (
            Counter(y.held_bytes for _, y in each) for each in (undonated, donated)
        )

    @property
    def of_sizes(self) -> Reason:
        """Return the reason of values of another size: the program is split, or larger."""
        splits = [str(side.partitions or "") for side in (self.a, self.b)]
        if "" in splits or splits[0] == splits[1]:
            return self.of(ReasonKind.SIZE)
        return self.of(ReasonKind.SPLIT, before=splits[0], after=splits[1])

    def reasons(self) -> list[Reason]:
        for a, b in self.matching.pairs:
            if _is_returned(a) is not _is_returned(b) and not (a.is_result and b.is_result):
                self._count_returned(a, b)
            elif a.held_bytes != b.held_bytes:
                self._reason_of_pair(a, b).count(a, b)
        for value in (each for each in self.matching.only_a if each.held_bytes):
            self._reason_of_one(value, is_new=False).count(value, None)
        for value in (each for each in self.matching.only_b if each.held_bytes):
            self._reason_of_one(value, is_new=True).count(None, value)
        self._count_donations()
        limit_checkpoints(self.turns, self.reasons_found)
        self._count_checkpoints()
        for loop in self.turns.unrolled:
            self._of_unrolled(loop)
        join_unrolled(self.sides, self.turns, self.reasons_found)
        self._count_totals()
        count_libraries((self.a, self.b), self.libraries, self.reasons_found)
        name_first(self.sides, self.reasons_found)
        name_second_input(self.matching, self.reasons_found)
        name_turns(self.sides, self.turns, self.reasons_found)
        join_loops(self.sides, self.reasons_found)
        name_inputs(self.sides, self.reasons_found)
        join_element_type(self.sides, self.reasons_found)
        join_fusions(self.sides, self.reasons_found)
        join_split(self.reasons_found)
        growths = (reason.growth_bytes for reason in self.found.values())
        is_all_equal = not any((self.matching.only_a, self.matching.only_b, *growths))
        for kind, growth_bytes in (
            (ReasonKind.IDLE, self.b.idle_bytes - self.a.idle_bytes),
            (ReasonKind.FRAGMENTATION, self.b.fragmentation_bytes - self.a.fragmentation_bytes),
            (ReasonKind.UNKNOWN, self.b.unknown_bytes - self.a.unknown_bytes),
        ):
            if growth_bytes:
                reason = self.of(kind)
                reason.growth_bytes = growth_bytes
                reason.only_reason = is_all_equal
        join_placed(self.reasons_found)
        leave_out_numbers(self.reasons_found)
        join_scopes(self.reasons_found)
        join_order(self.sides, self.reasons_found)
        if not self.is_other_version:
            if not self.turns.unrolled and Subject(ReasonKind.REPEATED) not in self.found:
                name_repeated_ops((self.a, self.b), self.reasons_found)
            name_called((self.a, self.b), self.reasons_found)
            name_edited_lines((self.a, self.b), self.reasons_found)
            name_new_code(self.sides, self.reasons_found)
        name_collectives(self.sides, self.reasons_found)
        return list(self.found.values())

    def _count_returned(self, a: HeldValue, b: HeldValue) -> None:
        """Count a value that only one program returns; the other has it in temporary memory."""
        is_new = _is_returned(b)
        # the result of a donated input may be another value of the loop that makes it
        sizes = self.undonated_sizes if is_new else self.donated_sizes
        kind = ReasonKind.UNDONATED if is_new else ReasonKind.DONATED
        kind = kind if self._take(sizes, b if is_new else a) else ReasonKind.OUTPUTS
        self.of(kind).count(*((None, b) if is_new else (a, None)))
        temporary = a if is_new else b
        if temporary.held_bytes:
            elsewhere = temporary._replace(held_bytes=0)
            pair = (a, elsewhere) if is_new else (elsewhere, b)
            self.of(ReasonKind.PLACED).count(*pair)

    def _reason_of_pair(self, a: HeldValue, b: HeldValue) -> Reason:
        is_input_a, is_input_b = (value.part is ReservedPart.INPUTS for value in (a, b))
        is_output_a, is_output_b = (value.part is ReservedPart.OUTPUTS for value in (a, b))
        if a.is_result is b.is_result and (
            (is_input_a and is_output_b) or (is_output_a and is_input_b)
        ):
            kind = ReasonKind.UNDONATED if is_input_a else ReasonKind.DONATED
            sizes = self.undonated_sizes if is_input_a else self.donated_sizes
            return self.of(kind if self._take(sizes, b if is_input_a else a) else ReasonKind.REUSED)
        if a.is_result and b.is_result and a.dtype == b.dtype == "tuple":
            return self.of(ReasonKind.OUTPUTS)  # the table of the outputs
        depths = loop_depth(a.op_name), loop_depth(b.op_name)
        is_looped = depths[0] != depths[1]
        if (a, b) in self.resized:
            return self._of_library(a, b)
        if (a.dtype, without_ones(a)) != (b.dtype, without_ones(b)):
            factor = element_factor(a, b)
            if factor == 1 and a.dtype != b.dtype:
                return self.of(ReasonKind.DTYPE, before=a.dtype or "", after=b.dtype or "")
            change = None if a.held_bytes and b.held_bytes else self.checkpoints.around(b)
            if change and a.part is b.part is ReservedPart.LIVE:  # one keeps it, one computes it
                return self.of(change)
            if is_looped and (unrolled := self._unrolled(b)):
                return unrolled
            reason = looped(self.reasons_found, *depths) if is_looped else self.of_sizes
            reason.factors.update(() if factor is None else {factor})
            # stacks of as many parts as there are iterations, of loops that run so often
            before, after = a.iterations, b.iterations
            is_filled = (before, after) == (a.stack_turns, b.stack_turns)
            if before and after and before != after and is_filled:
                reason.turns.add((before, after))
            if a.is_input and b.is_input and grows_more((a, b), reason.input_example, self.results):
                reason.input_example = (a, b)
            return reason
        if a.is_result is not b.is_result and a.part is b.part:
            return self.of(ReasonKind.OUTPUTS)
        if is_looped and a.part is b.part:
            return self._unrolled(b) or looped(self.reasons_found, *depths)
        if is_made_by_one(self.libraries, a, b):
            return self._of_library(a, b)
        if a.part is not b.part:
            is_elsewhere = ReservedPart.ELSEWHERE in (a.part, b.part)
            return self.of(ReasonKind.SPACE if is_elsewhere else ReasonKind.PLACED)
        if a.part is ReservedPart.LIVE and (change := self.checkpoints.around(b)):
            return self.of(change)
        return self.of(ReasonKind.PEAK if a.size_bytes == b.size_bytes else ReasonKind.PADDING)

    def _reason_of_one(self, value: HeldValue, *, is_new: bool) -> Reason:
        if _is_copy(value):  # of a stack for the backward pass, it goes with its checkpoint
            change = self.checkpoints.around(value) if "while" in stem(value.op_name) else None
            return self.of(change or ReasonKind.COPIES)
        if value.part is ReservedPart.OUTPUTS:
            if is_new and self._take(self.undonated_sizes, value):
                return self.of(ReasonKind.UNDONATED)
            if not is_new and self._take(self.donated_sizes, value):
                return self.of(ReasonKind.DONATED)
        if value.part is ReservedPart.LIVE and value.is_result:
            return self.of(ReasonKind.OUTPUTS)
        if value.part is ReservedPart.LIVE:
            if change := self.checkpoints.around(value):
                return self.of(change)
            if stem(value.op_name) in self.library_ops:
                return self._of_library(value)
            if unrolled := self._unrolled(value):
                return unrolled
            if depths := self.loops.moved(value):
                return looped(self.reasons_found, *depths)
            if self.have_checkpoints and primitive(value.op_name) == _KEPT_BY_POLICY:
                kind = ReasonKind.STACKED if value.is_stack else ReasonKind.REPLACED
                return self.of(kind, after="policy")
            if value.is_stack and self.loops.is_first_stack(value, is_new=is_new):
                return self.of(ReasonKind.STACKED)
            others = self.scopes_a if is_new else self.scopes_b
            # a joined name, `a/mul;b/add`, contains no scope
            names = () if ";" in (value.op_name or "") else scope_names(value.op_name)[:-1]
            if unknown := [name for name in names if name not in others]:
                kind = ReasonKind.SCOPE_NEW if is_new else ReasonKind.SCOPE_GONE
                scope = pattern(unknown[0])
                reason = self.of(kind, before=MORE if scope in others else "", after=scope)
                reason.scopes.add(unknown[0])
                return reason
            if value.dtype and primitive(value.op_name) == "convert_element_type":
                return self.of(ReasonKind.CASTS, after=value.dtype)
            if value.is_stack:
                return self.of(ReasonKind.STACKED)
        return self.of(_UNMATCHED[value.part])

    def _unrolled(self, value: HeldValue) -> Reason | None:
        """Return the reason of a value of a line in the body of an unrolled loop."""
        line = value.source_line or value.line
        loops = (loop for loop in self.turns.unrolled if line in loop.lines)
        return next(map(self._of_unrolled, loops), None)

    def _of_unrolled(self, loop: ChangedLoop) -> Reason:
        reason = self.of(ReasonKind.UNROLLED, before=loop.steps[0], after=loop.steps[1])
        reason.turns.add(loop.turns)
        reason.scopes.add(loop.place)
        return reason

    def _of_library(self, *values: HeldValue) -> Reason:
        """Return the reason of the library that makes one of the values, or that replaced it."""
        names = [name for value in values if (name := library(value)) in self.libraries]
        return self.of(ReasonKind.LIBRARY, after=(names or sorted(self.libraries))[0] or "")

    def _take(self, sizes: Counter[int], value: HeldValue) -> bool:
        """Return True if a donation of that size is still unexplained; count it as explained."""
        if sizes[value.held_bytes] <= 0:
            return False
        sizes[value.held_bytes] -= 1
        return True

    def _count_donations(self) -> None:
        kinds = ReasonKind.UNDONATED, ReasonKind.DONATED
        for kind, values in zip(kinds, (self.undonated, self.donated), strict=True):
            if values:
                reason = self.of(kind)
                reason.count_a = reason.count_b = len(values)
                reason.inputs = branches_of(self.sides, values)
                if kind is ReasonKind.DONATED:
                    reason.of = 0, results_in_inputs(self.b, self.a, values)
                else:
                    reason.of = results_in_inputs(self.a, self.b, values), 0
        if bool(self.undonated) is not bool(self.donated):
            reason = self.of(ReasonKind.UNDONATED if self.undonated else ReasonKind.DONATED)
            # temporaries may share the allocation that an output has again
            placed = self.found.get(Subject(ReasonKind.PLACED))
            is_more = placed is not None and placed.growth_bytes > 0
            room = sum(value.size_bytes for value in (*self.undonated, *self.donated))
            is_placed = placed is not None and abs(placed.growth_bytes) <= room
            if placed and is_placed and (reason.growth_bytes or is_more is bool(self.undonated)):
                del self.found[placed.subject]
                reason.placed_bytes = placed.growth_bytes
                reason.growth_bytes += placed.growth_bytes

    def _count_totals(self) -> None:
        """Count all copies and outputs, also those that did not change."""
        if reason := self.found.get(Subject(ReasonKind.COPIES)):
            reason.count_a, reason.count_b = self.a.copies, self.b.copies
        results = [sum(value.is_output for value in side.values) for side in (self.a, self.b)]
        if (reason := self.found.get(Subject(ReasonKind.OUTPUTS))) and all(results):
            reason.count_a, reason.count_b = results

    def _count_checkpoints(self) -> None:
        for kind, scopes, values in (
            (ReasonKind.UNCHECKPOINTED, self.checkpoints.gone, self.a.values),
            (ReasonKind.CHECKPOINTED, self.checkpoints.new, self.b.values),
        ):
            if scopes:
                reason = self.of(kind)
                reason.scopes = checkpointed_parts(values, scopes)
                reason.count_a = reason.count_b = sum(
                    self.checkpoints.around(value) is not None and has_checkpoint(value.op_name)
                    for value in values
                )


def _all_scopes(side: Reserved) -> frozenset[str]:
    op_names = {value.op_name for value in side.values} | side.mentions.op_names.keys()
    names = {name for op_name in op_names for name in scope_names(op_name)[:-1]}
    return frozenset((*names, *map(pattern, names)))


def _is_copy(value: HeldValue) -> bool:
    """Return True for a copy, or the target of one, in temporary memory."""
    is_target = value.opcode == "copy-start" and value.shape_index == "{0}"
    return value.part is ReservedPart.LIVE and (value.opcode == "copy" or is_target)


def _is_returned(value: HeldValue) -> bool:
    """Return True for a result in memory of its own."""
    return value.is_result and value.part is ReservedPart.OUTPUTS and value.held_bytes > 0

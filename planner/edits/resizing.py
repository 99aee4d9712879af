"""Edits that change the size of values: removed, shrunk, computed in parts, packed tightly."""

# ruff: noqa: ARG002

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.edits.edit import Edit, Edited, Replanned
from xlagraph.planner.edits.effect_sentences import (
    saved_text,
    why_not_changed,
)
from xlagraph.planner.edits.loop_stacks import stacks_of
from xlagraph.planner.edits.patterns import matching
from xlagraph.planner.edits.size_doubts import (
    doubts_of_readers,
    doubts_of_results,
    doubts_of_types,
    of_one_width,
)
from xlagraph.planner.planned_program import PlannedProgram
from xlagraph.planner.value_changes import (
    whole_sets,
    with_shrunk_values,
    with_sources_of_removed_copies,
    without_values,
)
from xlagraph.presentation.byte_sizes import counted, human_bytes

NOTHING_CHANGES: Final = "changes nothing: a factor of 1 keeps all bytes"


@dataclass(frozen=True, slots=True)
class Remove(Edit):
    """Remove values."""

    patterns: tuple[str, ...]
    named: frozenset[int]
    """Ids of the values that the patterns name."""
    has_followers: bool = False
    """True if all that must share their bytes, stack or copy them is removed, too."""

    @classmethod
    def matching(cls, compilation: PlannableCompilation, pattern: str) -> "Remove":
        """Remove what a pattern names, with all that follows it; raises NoSuchName."""
        return cls((pattern,), frozenset(matching(pattern, compilation)), has_followers=True)

    @classmethod
    def of(cls, compilation: PlannableCompilation, labels: Iterable[str]) -> "Remove":
        """Remove exactly the values with these labels."""
        patterns = tuple(labels)
        return cls(patterns, frozenset(ids_of(compilation, patterns)))

    @property
    def arguments(self) -> tuple[str, ...]:
        return tuple(word for pattern in self.patterns for word in ("--without", pattern))

    @property
    def matched(self) -> frozenset[int]:
        return self.named

    def apply(self, compilation: PlannableCompilation, program: PlannedProgram) -> Edited:
        value_ids = self.named
        if self.has_followers:
            value_ids = _followed(compilation, program, self.named, with_parameters=False)
        read_instead = with_sources_of_removed_copies(program, value_ids)
        edited = resized(program, value_ids, without_values(read_instead, value_ids))
        if not self.has_followers:
            return edited
        return replace(edited, assumptions=tuple(doubts_of_readers(program, value_ids)))

    def sentence(self, after: Replanned, before: Replanned) -> str:
        return resized_text(after, before, self.named, "removed")


@dataclass(frozen=True, slots=True)
class Shrink(Edit):
    """Shrink the values that a pattern names, and all that follow them, by one factor."""

    pattern: str
    named: frozenset[int]
    kept: Fraction
    """Part of its bytes that each value keeps."""

    @classmethod
    def matching(cls, compilation: PlannableCompilation, pattern: str, kept: Fraction) -> "Shrink":
        """Shrink what a pattern names, with all that follows it; raises NoSuchName."""
        return cls(pattern, frozenset(matching(pattern, compilation)), kept)

    @property
    def arguments(self) -> tuple[str, ...]:
        return "--shrink", f"{self.pattern}={self.kept}"

    @property
    def matched(self) -> frozenset[int]:
        return self.named

    def apply(self, compilation: PlannableCompilation, program: PlannedProgram) -> Edited:
        if self.kept == 1:
            return Edited(program, value_ids=self.named)
        value_ids = _followed(compilation, program, self.named, with_parameters=True)
        shrunk = with_shrunk_values(program, dict.fromkeys(value_ids, self.kept))
        edited = resized(program, value_ids, shrunk)
        doubts = (
            *doubts_of_types(compilation, program, value_ids, self.kept),
            *doubts_of_results(compilation, program, value_ids),
        )
        edited = replace(edited, assumptions=doubts)
        if others := of_one_width(compilation, program, value_ids):
            floats = dict.fromkeys(value_ids - others, self.kept)
            edited = replace(edited, most=with_shrunk_values(program, floats))
        return edited

    def sentence(self, after: Replanned, before: Replanned) -> str:
        if self.kept == 1:
            return NOTHING_CHANGES
        return resized_text(after, before, self.named, "smaller")


@dataclass(frozen=True, slots=True)
class Scale(Edit):
    """Shrink exactly the values with these labels, each by its factor."""

    kept_by_label: Mapping[str, Fraction]
    """Part of its bytes that each value keeps."""

    @property
    def arguments(self) -> tuple[str, ...]:
        return _shrink_arguments(self.kept_by_label)

    def apply(self, compilation: PlannableCompilation, program: PlannedProgram) -> Edited:
        kept = _by_id(compilation, self.kept_by_label)
        return resized(program, frozenset(kept), with_shrunk_values(program, kept))

    def sentence(self, after: Replanned, before: Replanned) -> str:
        named = ids_of(after.compilation, self.kept_by_label)
        return resized_text(after, before, named, "smaller")


@dataclass(frozen=True, slots=True)
class ComputeInParts(Edit):
    """Compute values in parts: at best nothing of them is stored, at worst one part of each."""

    kept_by_label: Mapping[str, Fraction]
    """Part of its bytes that one part of each value takes."""

    @property
    def arguments(self) -> tuple[str, ...]:
        return _shrink_arguments(self.kept_by_label)

    def apply(self, compilation: PlannableCompilation, program: PlannedProgram) -> Edited:
        kept = {
            member.value_id: factor
            for value_id, factor in _by_id(compilation, self.kept_by_label).items()
            if value_id in program.by_id
            for member in program.sets[program.by_id[value_id].buffer_set]
        }
        value_ids = frozenset(kept)
        most = with_shrunk_values(program, kept)
        return Edited(
            without_values(program, kept),
            most,
            value_ids,
            (program.bytes_of(value_ids), most.bytes_of(value_ids)),
            is_certain=False,
        )

    def sentence(self, after: Replanned, before: Replanned) -> str:
        named = ids_of(after.compilation, self.kept_by_label)
        return resized_text(after, before, named, "computed in parts")


@dataclass(frozen=True, slots=True)
class PackTightly(Edit):
    """Pack the temporary block to its lower bound, which no change of a program surely does."""

    def apply(self, compilation: PlannableCompilation, program: PlannedProgram) -> Edited:
        return Edited(program, is_packed=True)

    def sentence(self, after: Replanned, before: Replanned) -> str:
        return saved_text(after, before, "the temporary block has no unused bytes")


def ids_of(compilation: PlannableCompilation, labels: Iterable[str]) -> set[int]:
    """Return the ids of the values with these labels; unknown labels are skipped."""
    by_label = compilation.id_by_label
    return {by_label[label] for label in labels if label in by_label}


def _by_id(
    compilation: PlannableCompilation, kept_by_label: Mapping[str, Fraction]
) -> dict[int, Fraction]:
    by_label = compilation.id_by_label
    return {by_label[label]: kept for label, kept in kept_by_label.items() if label in by_label}


def _shrink_arguments(kept_by_label: Mapping[str, Fraction]) -> tuple[str, ...]:
    return tuple(
        word for label, kept in kept_by_label.items() for word in ("--shrink", f"{label}={kept}")
    )


def resized(program: PlannedProgram, value_ids: frozenset[int], changed: PlannedProgram) -> Edited:
    """Return the changed program with the sizes before and after; the same if these are equal."""
    sizes = program.bytes_of(value_ids), changed.bytes_of(value_ids)
    if sizes[0] == sizes[1]:
        return Edited(program)
    return Edited(changed, value_ids=value_ids, sizes=sizes)


def resized_text(
    after: Replanned,
    before: Replanned,
    named: Collection[int],
    word: str,
    introduction: str | None = None,
) -> str:
    """Return which buffers change; `word` is `smaller` or `removed`.

    Without an introduction the sentence counts the values that the user named.
    """
    start = "" if introduction is None else f"{introduction}; "
    edited = after.edited
    if edited is None or edited.sizes is None:
        return f"{start}changes nothing: {why_not_changed(before, named)}"
    in_plan = before.program.by_id.keys() & set(named)
    bytes_before, bytes_after = edited.sizes
    text = ""
    if followed := len(edited.value_ids - in_plan):
        text = f"{counted(len(in_plan), 'named value')}, and {followed} that share their"
        text += " bytes, stack or copy them: "
    elif introduction is None:
        text = f"{counted(len(in_plan), 'named value')}: "
    buffers = len(before.program.sets_of(edited.value_ids))
    text += f"{counted(buffers, 'buffer')} of {human_bytes(bytes_before)}"
    text += f" {'is' if buffers == 1 else 'are'} {word}"
    if bytes_after:
        text += f", {human_bytes(bytes_after)} now"
    compilation = before.compilation
    parameters = sorted(
        compilation.values[each].label
        for each in edited.value_ids.difference(named)
        if each in compilation.parameters
    )
    if parameters:
        text += f", including the parameter {parameters[0]}"
        text += f" and {len(parameters) - 1} more" if len(parameters) > 1 else ""
    return f"{start}{text}; {saved_text(after, before)}"


def _followed(
    compilation: PlannableCompilation,
    program: PlannedProgram,
    named: Collection[int],
    *,
    with_parameters: bool,
) -> frozenset[int]:
    """Return the named values and all that follow them, if they are in the program.

    - All values that must share their bytes: a loop's state, values updated in place, the
      result that takes the bytes of a donated parameter.
    - The stacks in which a loop keeps them, one element for each iteration.
    - Their copies, and copies of an entry parameter that follows. If `with_parameters`, also the
      parameters that they are copies of, because both are the same array.
    """
    given = compilation.parameters.keys()
    copies = [value for value in program.values if value.is_copy and len(value.operands) == 1]
    sources = frozenset(named)
    found = whole_sets(program, sources | stacks_of(compilation, program, sources))
    while True:
        sources |= found & given
        following = {copy.value_id for copy in copies if copy.operands[0] in sources}
        if with_parameters:
            copied = {copy.operands[0] for copy in copies if copy.value_id in found}
            following |= copied & given
        if following <= found:
            return found
        found |= whole_sets(program, following)

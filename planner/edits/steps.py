"""Apply the changes of a what-if one after the other, and replan after each."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.edits.batch import Batch
from xlagraph.planner.edits.changes import Changes, factor_text, parse_factor
from xlagraph.planner.edits.checkpoint import checkpoint
from xlagraph.planner.edits.effect_reasons import (
    why_donation_saves_nothing,
    why_not_changed,
    why_not_shortened,
    why_nothing_is_saved,
)
from xlagraph.planner.edits.effect_texts import (
    ResizedBuffers,
    donated_text,
    freed_text,
    joined_text,
    range_text,
    recomputed_text,
    resized_text,
    saved_text,
)
from xlagraph.planner.edits.followed_values import followed_values
from xlagraph.planner.edits.named_donation import Donation, donation_of
from xlagraph.planner.edits.patterns import matching
from xlagraph.planner.edits.result import Effect
from xlagraph.planner.memory_plan import MemoryPlan, replan
from xlagraph.planner.planned_program import PlannedProgram, PlannedValue
from xlagraph.planner.replay import Replay
from xlagraph.planner.value_changes import (
    whole_sets,
    with_shortened_values,
    with_shrunk_values,
    without_values,
)

__all__ = ["Outcome", "changed"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The plan after the changes, with the effect of each."""

    plan: MemoryPlan | None = None
    at_most: MemoryPlan | None = None
    donation: Donation | None = None
    effects: tuple[Effect, ...] = ()
    assumptions: tuple[str, ...] = ()


def changed(
    stored: PlannableCompilation,
    changes: Changes,
    batch: Batch | None,
    replays: Sequence[Replay],
    before: MemoryPlan,
) -> Outcome:
    """Make the changes one after the other, and replan after each."""
    steps = _Steps(stored, replays, before)
    for pattern in changes.without:
        steps.leave_out(pattern)
    if batch is not None:
        steps.scale_batch(batch)
    for pattern, factor in changes.shrink.items():
        steps.shrink(pattern, parse_factor(factor))
    for pattern in changes.until_last_use:
        steps.free_early(pattern)
    for scope in changes.checkpoint:
        steps.put_checkpoint(scope)
    if changes.donate:
        steps.give(changes.donate)
    return steps.outcome


class _Steps:
    """State between two changes."""

    def __init__(
        self, stored: PlannableCompilation, replays: Sequence[Replay], before: MemoryPlan
    ) -> None:
        self._stored = stored
        self._replays = replays
        self._program = stored.program
        self._most: PlannedProgram | None = None
        self.outcome = Outcome(plan=before, assumptions=("the schedule does not change",))
        self._plan = before

    def leave_out(self, pattern: str) -> None:
        """Remove the values that a pattern names, and all that follow them."""
        named = self._matching(pattern)
        value_ids = followed_values(self._stored, self._program, named, with_parameters=False)

        def removed(program: PlannedProgram) -> PlannedProgram:
            return without_values(program, value_ids)

        self._resize(f"--without {pattern}", named, value_ids, removed, "removed")

    def shrink(self, pattern: str, kept: Fraction) -> None:
        """Shrink the values that a pattern names, and all that follow them."""
        named = self._matching(pattern)
        value_ids = followed_values(self._stored, self._program, named, with_parameters=True)

        def shrunk(program: PlannedProgram) -> PlannedProgram:
            return with_shrunk_values(program, dict.fromkeys(value_ids, kept))

        change = f"--shrink {pattern}={factor_text(kept)}"
        if kept == 1:
            self._add(change, named, "changes nothing: a factor of 1 keeps all bytes")
            return
        self._resize(change, named, value_ids, shrunk, "smaller")

    def scale_batch(self, batch: Batch) -> None:
        """Shrink the values that carry the batch."""
        value_ids = frozenset(batch.kept_by_id)

        def scaled(program: PlannedProgram) -> PlannedProgram:
            return with_shrunk_values(program, batch.kept_by_id)

        self._assume(*batch.assumptions)
        self._resize(f"--batch {batch.kept}", value_ids, value_ids, scaled, "smaller", batch.text)

    def free_early(self, pattern: str) -> None:
        """Free the values that a pattern names at their last use."""
        change = f"--until-last-use {pattern}"
        facts = self._stored.facts
        named = self._matching(pattern)
        ends: dict[int, int] = {}
        for value_id in named:
            value = self._program.by_id.get(value_id)
            if value is None or value.lives_out or value.is_stored:
                continue
            last_use = facts[value_id].last_use
            last = value.first if last_use is None else max(value.first, last_use)
            if last < value.last:
                ends[value_id] = last
        if not ends:
            why = why_not_shortened(self._stored, self._program, named)
            self._add(change, named, f"changes nothing: {why}")
            return
        program = with_shortened_values(self._program, ends)
        if self._most is not None:
            self._most = with_shortened_values(self._most, ends)
        saved, why = self._advance(program, whole_sets(program, ends))
        text = f"{freed_text(len(ends), len(named))}; {saved_text(saved, why)}"
        self._add(change, ends, text, saved)

    def put_checkpoint(self, scope: str) -> None:
        """Recompute the values that a scope keeps for the backward pass."""
        found = checkpoint(self._stored, self._program, scope)
        most = self._most if self._most is not None else self._program
        most_before = (self.outcome.at_most or self._plan).reserved_bytes()
        self._most = checkpoint(self._stored, most, scope).most
        changed_ids = frozenset(
            value.value_id
            for value in self._program.values
            if found.least.by_id.get(value.value_id) != value
        )
        sizes = self._bytes_of(changed_ids)
        saved, why = self._advance(found.least, changed_ids)
        most_after = (self.outcome.at_most or self._plan).reserved_bytes()
        saving = range_text(most_before - most_after, saved, why)
        text = recomputed_text(found.value_count, len(found.stacked_ids), scope)
        self._add(f"--checkpoint {scope}", changed_ids, f"{text}; {saving}", saved, sizes)
        if self._stored.platform == "cpu" and not found.is_of_loops:
            self._assume(
                "on CPU the compiler may undo a checkpoint outside of a loop; then it saves nothing"
            )

    def give(self, names: Sequence[str]) -> None:
        """Donate parameters."""
        donation = donation_of(self._stored, self._program, names)
        self.outcome = replace(self.outcome, donation=donation)
        effective = [each for each in donation.parameters if each.output is not None]
        change = " ".join(f"--donate {name}" for name in names)
        labels = {facts.label: value_id for value_id, facts in self._stored.facts.items()}
        given = [labels[each.parameter] for each in donation.parameters]
        saved, saving = 0, "nothing changes"
        if effective:
            saved, _ = self._advance(donation.donated.program, frozenset())
            saving = saved_text(saved, why_donation_saves_nothing(effective))
        self._add(change, given, donated_text(donation.parameters, saving), saved)
        if self._most is not None:
            self._most = donation_of(self._stored, self._most, names).donated.program
            self._plan_most()

    def _resize(
        self,
        change: str,
        named: Collection[int],
        value_ids: frozenset[int],
        apply: Callable[[PlannedProgram], PlannedProgram],
        word: str,
        introduction: str | None = None,
    ) -> None:
        """Change sizes, and record the effect."""
        program = apply(self._program)
        before = self._bytes_of(value_ids)[0]
        after = sum(members[0].size_bytes for members in _sets(program, value_ids))
        if before == after:
            why = why_not_changed(self._stored, self._program, named)
            self._add(change, (), joined_text(introduction, f"changes nothing: {why}"))
            return
        in_plan = self._program.by_id.keys() & set(named)
        resized = ResizedBuffers(
            values=len(in_plan),
            followed=len(value_ids - in_plan),
            buffers=len(_sets(self._program, value_ids)),
            bytes_before=before,
            bytes_after=after,
            parameters=self._parameters_among(value_ids - set(named)),
        )
        text = resized_text(resized, word, is_named=introduction is None)
        if self._most is not None:
            self._most = apply(self._most)
        saved, why = self._advance(program, value_ids)
        self._add(
            change,
            value_ids,
            joined_text(introduction, f"{text}; {saved_text(saved, why)}"),
            saved,
            (before, after),
        )

    def _parameters_among(self, value_ids: Collection[int]) -> tuple[str, ...]:
        found = [self._stored.facts[value_id] for value_id in value_ids]
        return tuple(sorted(each.label for each in found if each.parameter is not None))

    def _bytes_of(self, value_ids: frozenset[int]) -> tuple[int, int]:
        total = sum(members[0].size_bytes for members in _sets(self._program, value_ids))
        return total, total

    def _advance(self, program: PlannedProgram, value_ids: frozenset[int]) -> tuple[int, str]:
        """Replan the changed program; return the bytes saved, and the reason if there are none."""
        plan = replan(program, self._replays)
        saved = self._plan.reserved_bytes() - plan.reserved_bytes()
        why = why_nothing_is_saved(self._stored, self._program, self._plan, value_ids)
        self._program, self._plan = program, plan
        self.outcome = replace(self.outcome, plan=plan)
        self._plan_most()
        return saved, why

    def _matching(self, pattern: str) -> list[int]:
        return matching(pattern, self._stored.facts, compilation=self._stored.key)

    def _plan_most(self) -> None:
        if self._most is not None:
            at_most = replan(self._most, self._replays)
            self.outcome = replace(self.outcome, at_most=at_most)

    def _assume(self, *texts: str) -> None:
        new = [text for text in texts if text not in self.outcome.assumptions]
        self.outcome = replace(self.outcome, assumptions=(*self.outcome.assumptions, *new))

    def _add(
        self,
        change: str,
        value_ids: Iterable[int],
        text: str,
        saved: int = 0,
        sizes: tuple[int, int] | None = None,
    ) -> None:
        ids = frozenset(value_ids)
        sets = _sets(self._stored.program, ids)
        total = sum(members[0].size_bytes for members in sets)
        before, after = sizes or (total, total)
        effect = Effect(change, len(ids), len(sets), before, after, saved, f"{change}: {text}")
        self.outcome = replace(self.outcome, effects=(*self.outcome.effects, effect))


def _sets(program: PlannedProgram, value_ids: frozenset[int]) -> list[tuple[PlannedValue, ...]]:
    by_id = program.by_id
    names = {by_id[value_id].buffer_set for value_id in value_ids if value_id in by_id}
    return [program.sets[name] for name in sorted(names)]

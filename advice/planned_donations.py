"""Replan the savings of donating inputs, as `whatif` does: each input, and the best set.

A statement can only estimate them from the values in an output's buffer.
"""

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Final

from xlagraph.graph.engine import Cell, Graph, Result
from xlagraph.planner.compilation.plannable_compilation import (
    PlannableCompilation,
    plannable_compilation,
)
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.edits.chosen_again import reordering_of_choice
from xlagraph.planner.edits.donating import Donate, whole_arguments
from xlagraph.planner.edits.edit import Replanned, replan
from xlagraph.planner.orders.ordered_program import Reordering
from xlagraph.presentation.byte_sizes import human_bytes
from xlagraph.queries.catalogue.declarations import Advice, ChangeKind
from xlagraph.queries.runner.run import Answer

_MOST_VALUES: Final = 60_000
"""Total number of values to plan, so that a query takes a few seconds at most."""
_INPUT: Final = "value"
_ARGUMENT: Final = re.compile(r"(?P<name>[A-Za-z_]\w*)(\[.*|\.[A-Za-z_].*)?")
"""Op name of an entry parameter: an argument's name, and the path to a leaf in it."""
_COMPILED: Final = re.compile(r"jit\((?P<name>\w+)\)/")
"""Beginning of the op names of a compiled function of JAX."""

_OF_WRAPPERS: Final = {
    "dynamic_nodonate": 'equinox.filter_jit(donate="all"), or "all-except-first"',
    "flat_args": "their positions in jax.pmap(..., donate_argnums=...), which takes no names",
    "args": "their positions in jax.jit(..., donate_argnums=...), because *args have no names; call"
    " a loop that is outside of jax.jit, such as jax.lax.scan, in a jitted function",
}
"""How to donate arguments that a wrapper names instead of the function that it wraps."""


def with_planned_donations(
    graph: Graph, answer: Answer, *, stored: StoredCompilation | None = None
) -> Answer:
    """Return the answer with replanned savings if its rows are inputs to donate.

    Only as many rows are replanned as a few seconds allow; the others have null. Without module
    text the estimates of the statement are kept. A note says so in both cases. ``stored`` is the
    compilation of the answer, if the caller reads it too.
    """
    advice = answer.query.advice
    if advice is None or advice.change is not ChangeKind.DONATE or answer.compilation is None:
        return answer
    columns = answer.result.columns
    if not answer.result.rows or not {advice.column, _INPUT} <= set(columns):
        return answer
    stored = stored or StoredCompilation(graph, answer.compilation)
    plannable = plannable_compilation(stored)
    if not plannable.has_buffer_sets or not plannable.has_ranges:
        note = f"{advice.column} is an estimate: without module text nothing can be replanned"
        return replace(answer, notes=(*answer.notes, note))
    count = max(1, _MOST_VALUES // max(1, len(plannable.program.values)))
    row_labels = [str(row[columns.index(_INPUT)]) for row in answer.result.rows]
    planned = _planned(plannable, row_labels[:count], reordering_of_choice(stored, plannable))
    saved = columns.index(advice.column)
    rows = tuple(
        (*row[:saved], planned.get(label), *row[saved + 1 :])
        for label, row in zip(row_labels, answer.result.rows, strict=True)
    )
    notes = answer.notes
    if len(row_labels) > count:
        note = f"{advice.column} is replanned for the first {count} rows; whatif replans others"
        notes = (*notes, note)
    return replace(answer, result=Result(columns, rows), notes=notes)


def best_donation(
    compilation: PlannableCompilation,
    labels: Collection[str],
    memory_space: int,
    *,
    stored: StoredCompilation | None = None,
) -> tuple[Donate | None, str | None]:
    """Return the arguments to donate, and a note if donating all costs memory or saves less.

    Callers donate whole arguments (`whole_arguments`); those with one of the labels are candidates.
    Starting with all of them, the largest first, each one is left out if as much is saved without
    it. If no set saves anything, nothing is returned. Only as many sets are replanned as a few
    seconds allow, in the order of the dump; if the stored compilation is given, what is returned
    makes the order that XLA chooses then.
    """
    named = {compilation.id_by_label[each] for each in labels if each in compilation.id_by_label}
    by_id = compilation.program.by_id
    chosen = [
        Donate(patterns, parameters)
        for patterns, parameters in whole_arguments(compilation)
        if not named.isdisjoint(parameters)
    ]
    chosen.sort(key=lambda each: (-sum(by_id[v].size_bytes for v in each.parameters), each.names))
    left = max(2, _MOST_VALUES // max(1, len(compilation.program.values)))

    def replanned(edits: Iterable[Donate]) -> Replanned:
        return replan(compilation, [reduce(or_, edits)])

    def saved(edits: Iterable[Donate]) -> int:
        return replanned(edits).saved_bytes(memory_space)

    if not chosen:
        return None, None
    best = every = saved(chosen)
    kept = list(chosen)
    for edit in chosen[: left - 1]:
        rest = [each for each in kept if each is not edit]
        if rest and (without := saved(rest)) >= best:
            best, kept = without, rest
    found = reduce(or_, kept)
    if stored is not None:
        found = found.in_chosen_order(stored, compilation)
        every = saved([*chosen, found]) if every < 0 else every
    if every < 0:  # only the packing may cost, and it is another after the least change
        plan = replanned([*chosen, found]).plan
        needed = compilation.plan.least_bytes(memory_space) - plan.least_bytes(memory_space)
        every = max(every, min(needed, 0))
    if every >= 0:
        return (found if best > 0 else None), None
    names = " ".join(shlex.join(each.arguments) for each in chosen)
    note = f"donating all inputs that fit outputs costs {human_bytes(-every)}: whatif {names}"
    return (found if best > 0 else None), note


def naming_arguments(
    advice: Advice,
    donated: Iterable[Mapping[str, Cell]],
    compilation: PlannableCompilation,
    *,
    eager: str | None = None,
) -> Advice:
    """Return the advice with the names of the donated arguments, if a dump knows them all.

    ``donated`` are rows of `alias/not-donated`. The names include what is donated already.
    ``eager`` is the operation of a program that has no other; see `eager_operation`.
    """
    already = [
        value.op_name
        for value in compilation.array_parameters
        if compilation.is_donated(value.value_id)
    ]
    rows = [row.get("opName") for row in donated]
    found = [_ARGUMENT.fullmatch(str(name or "")) for name in (*rows, *already)]
    names = dict.fromkeys(match["name"] for match in found if match)
    if not all(found):
        return advice
    if eager is None:
        text = f"Donate what the caller no longer needs: {_donating(tuple(names))}"
    else:
        text = (
            f"The program is one operation of JAX, {eager}: call it inside the jitted function that"
            f" makes or reads its arrays, or donate with {_donating(tuple(names))}"
        )
    text += "; the caller must not read an array after it has passed it."
    return replace(advice, remedies={**advice.remedies, "jax": text})


def eager_operation(stored: StoredCompilation) -> str | None:
    """Return the name of the function of JAX that was called outside of any jitted function.

    JAX compiles such a call by itself, under the name of its own function. Its frames are left out
    of call stacks, so all that is computed has the line of the call, in a function of another
    name. None for other programs, and without call stacks.
    """
    computed = [
        (found["name"], value.source_line)
        for value in stored.values
        if (found := _COMPILED.match(value.op_name or "")) is not None
    ]
    if len(set(computed)) != 1 or not stored.frame_by_value:
        return None
    name = computed[0][0]
    functions = {(frame.function or "").rpartition(".")[2] for frame in stored.frames.values()}
    return None if functions & {name, "<lambda>", "__call__"} else name


def _donating(names: Sequence[str]) -> str:
    """Return how to donate these arguments; what wraps a function may name them itself."""
    for name in names:
        if (found := _OF_WRAPPERS.get(name)) is not None:
            return found
    listed = ", ".join(f'"{name}"' for name in names) + ("," if len(names) == 1 else "")
    return f"jax.jit(..., donate_argnames=({listed})), or the positions in donate_argnums"


def _planned(
    compilation: PlannableCompilation, labels: Sequence[str], reordering: Reordering | None
) -> dict[str, Cell]:
    """Return the bytes that donating each parameter separately saves, by label."""
    planned: dict[str, Cell] = {}
    for label in dict.fromkeys(labels):
        memory_space = compilation.values[compilation.id_by_label[label]].memory_space
        donated = replace(Donate.matching(compilation, [label]), reordering=reordering)
        planned[label] = replan(compilation, [donated]).saved_bytes(memory_space)
    return planned

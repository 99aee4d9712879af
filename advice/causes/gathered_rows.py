"""Find rows that are gathered for every edge of a graph, or pair, although only sums are read.

A loop over groups of them adds the same sums, and only the rows of one group exist.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, of_all_at_once
from xlagraph.advice.causes.names import knows_passes, place_name
from xlagraph.advice.causes.old_values import is_ordered_before
from xlagraph.advice.causes.peak_values import JOINED_PARTS, PeakProgram
from xlagraph.hlo.op_names import last_part
from xlagraph.planner.compilation.records import StoredValue

_LEAST_SHARE: Final = Fraction(1, 2)
"""Least share of the reserved bytes that such rows take: in a loop the program may run longer."""
_LEAST_RATIO: Final = 4
"""Least rows that are gathered from each row, and added to each."""
_MIXING: Final = ("sort", "reduce-window", "fft", "topk", "while")
"""Opcodes of instructions that need all rows at once."""
_OF_ROWS: Final = (JOINED_PARTS, "AllocateBuffer")
"""Targets of custom calls that mix no rows."""

_ADDING: Final = re.compile("add|sum", re.IGNORECASE)
"""Primitives that add rows, not those that write them or take a maximum."""

_OF_BOTH_FORWARD_PASSES: Final = re.compile(r"/jvp\(jvp\(")
_OF_SECOND_BACKWARD_PASS: Final = re.compile(r"/transpose\(jvp\((?:jvp|transpose)\(")

_GATHERED_ROWS: Final[Remedies] = {
    "jax": "Add the rows of one group after another: reshape the indices (senders and receivers of"
    " a graph) to (groups, rows) and use jax.lax.scan(jax.checkpoint(body), jnp.zeros((nodes, d)),"
    " (senders, receivers)), whose body gathers the rows of one group and adds their"
    " jax.ops.segment_sum to the carry; for a softmax over the edges of a node, add the"
    " exponentials in the same loop, and divide the two sums.",
    "tensorflow": "Add the rows of one group after another in a tf.while_loop, with"
    " tf.recompute_grad around its body.",
    "pytorch": "Add the rows of one group after another with index_add_, each group inside of"
    " torch_xla.utils.checkpoint.checkpoint.",
}


def gathered_rows(program: PeakProgram) -> Iterator[Cause]:
    """Yield the values that have a row for each gathered one, if they take most of the peak."""
    least = _LEAST_SHARE * program.compilation.reserved_bytes.get(program.memory_space, 0)
    added = {
        value.dimensions[0]: each
        for each in sorted(_outside_loops(program, "scatter"), key=_bytes)
        if _ADDING.search(last_part(each.op_name))
        for value in _read(program, each)
        if _is_larger(value, each)
    }
    pairs = _pairs(program, added)
    gathered = {source.dimensions[0] for _, source, _ in pairs.values()}
    stacked = _kept_for_second_gradient(program) if pairs else frozenset()
    for count, (gather, source, scatter) in pairs.items():
        if count in gathered:  # nodes of a graph, which depend on each other through its edges
            continue
        found = [value for value in program.temporaries if count in value.dimensions]
        found += _flattened(program, found, count)
        found = [value for value in found if program.sources_of(value).isdisjoint(stacked)]
        at_peak = [value for value in program.at_peak if value in set(found)]
        if sum(value.size_bytes for value in at_peak) < least:
            continue
        if any(_needs_all_rows(program, value) for value in found):
            continue
        kept = sum(value.size_bytes for value in _read_after_sums(program, found, count))
        if kept * _LEAST_RATIO > sum(value.size_bytes for value in at_peak):
            continue
        first, last = (_line(program, each) for each in (gather, scatter))
        reason = (
            f"a row for each of {count} that {first} gathers from {source.dimensions[0]} rows;"
            f" {last} adds what is computed from them to {scatter.dimensions[0]} rows"
        )
        yield of_all_at_once(
            "Gathered rows exist all at once, although only their sums are needed",
            [(value, reason) for value in found],
            _GATHERED_ROWS,
            likelihood=0.9,
        )


def _flattened(program: PeakProgram, rows: Sequence[StoredValue], count: int) -> list[StoredValue]:
    """Return the values that are computed from some, and have several rows for each of theirs.

    Or a few more rows: GPUs pad what a product reads.
    """
    ids = {each.value_id for each in rows}
    candidates = {
        value.value_id: value
        for value in program.temporaries
        if value.dimensions[:1] > (count,)
        and (value.dimensions[0] % count == 0 or program.computes_with(value.name, "pad"))
    }
    found: dict[int, StoredValue] = {}
    while near := {
        value_id: value
        for value_id, value in candidates.items() - found.items()
        if not (ids | found.keys()).isdisjoint(program.read_by.get(value.name, ()))
    }:
        found |= near
    return [value for value_id, value in found.items() if value_id not in ids]


def _kept_for_second_gradient(program: PeakProgram) -> frozenset[int]:
    """Return the values that a gradient of a gradient keeps in spite of a checkpoint in a loop.

    The first gradient splits a checkpointed function into what it computes at once and what it
    recomputes. The loop stacks the former for the second gradient.
    """
    found: set[int] = set()
    for value in program.values.values():
        if _OF_SECOND_BACKWARD_PASS.search(value.known_op_name or ""):
            for read in program.read_by.get(value.name, ()):
                found |= program.sources_of(program.values[read])
    return frozenset(
        each
        for each in found
        if _OF_BOTH_FORWARD_PASSES.search(program.values[each].known_op_name or "")
    )


def _needs_all_rows(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for a value of which no part can be computed from some rows alone.

    A dot is a convolution on a TPU, whose gathers have custom calls inside.
    """
    maker = program.instructions[value.name]
    if maker.opcode == "custom-call":
        return not (maker.target in _OF_ROWS or maker.computes_with("dot"))
    is_dot = last_part(value.known_op_name) == "dot_general"
    mixing = _MIXING if is_dot else (*_MIXING, "convolution")
    return any(map(maker.computes_with, mixing))


def _read_after_sums(
    program: PeakProgram, values: Sequence[StoredValue], count: int
) -> Iterator[StoredValue]:
    """Yield the values of the forward pass that are read again after all rows are added.

    The next layer needs these of all edges, so that no loop over edges can drop them.
    """
    schedulable, rows = program.schedulable, program.rows
    if schedulable is None:
        return
    scatters = [
        rows[value.name]
        for value in _outside_loops(program, "scatter")
        if value.name in rows and any(count in each.dimensions for each in _read(program, value))
    ]
    for value in values:
        if value.is_backward or value.name not in rows:
            continue
        readers = [
            rows[name]
            for name in program.readers_of.get(value.value_id, ())
            if name in rows and not program.is_backward(name)
        ]
        if any(
            is_ordered_before(schedulable, rows[value.name], scatter)
            and any(
                each != scatter and is_ordered_before(schedulable, scatter, each)
                for each in readers
            )
            for scatter in scatters
        ):
            yield value


def _pairs(
    program: PeakProgram, added: Mapping[int, StoredValue]
) -> dict[int, tuple[StoredValue, StoredValue, StoredValue]]:
    """Return a gather, its source, and a scatter that depends on it, by the number of rows.

    The largest ones: a softmax over the edges of a node gathers and adds a number for each, too.
    """
    schedulable = program.schedulable
    found: dict[int, tuple[StoredValue, StoredValue, StoredValue]] = {}
    for value in sorted(_outside_loops(program, "gather"), key=_bytes, reverse=True):
        scatter = added.get(value.dimensions[0])
        sources = [each for each in _read(program, value) if _is_larger(value, each)]
        if scatter is None or not sources or schedulable is None:
            continue
        source = max(sources, key=_bytes)  # a fusion may read a bias, too
        if scatter.dimensions == source.dimensions and not knows_passes(program):
            continue  # perhaps the gradient of a table
        rows = [program.rows.get(each.name) for each in (value, scatter)]
        if None not in rows and is_ordered_before(schedulable, rows[0] or 0, rows[1] or 0):
            found.setdefault(value.dimensions[0], (value, source, scatter))
    return found


def _outside_loops(program: PeakProgram, opcode: str) -> Iterator[StoredValue]:
    """Yield what the forward pass computes with an opcode outside of loops."""
    for value in program.values.values():
        known = program.instructions.get(value.name)
        if (
            known is not None
            and known.loop is None
            and known.computes_with(opcode)
            and not value.is_backward
            and value.dimensions
        ):
            yield value


def _read(program: PeakProgram, value: StoredValue) -> list[StoredValue]:
    """Return the floating-point arrays that the maker of a value reads."""
    read = (program.values[each] for each in program.read_by.get(value.name, ()))
    return [each for each in read if each.dimensions and each.is_float]


def _is_larger(one: StoredValue, other: StoredValue) -> bool:
    """Return True if a value has several rows for each of another one."""
    return one.dimensions[0] >= _LEAST_RATIO * other.dimensions[0]


def _bytes(value: StoredValue) -> int:
    return value.size_bytes


def _line(program: PeakProgram, value: StoredValue) -> str:
    return place_name(program, value.name)

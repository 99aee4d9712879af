"""Find inputs that are replicated on every device, though they could be split."""

import math
import operator
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final, cast

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row
from xlagraph.advice.causes.names import have_same_end
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.graph.engine import Cell
from xlagraph.hlo.op_names import argument_name
from xlagraph.hlo.shardings import part_count, split_dimensions
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.dimensions.following import follow
from xlagraph.planner.edits.batch import BatchDimension, ScaleBatch, scaled_batch
from xlagraph.planner.edits.chosen_again import reordering_of_choice
from xlagraph.planner.edits.resizing import Scale
from xlagraph.queries.catalogue.declarations import ChangeKind

_DIFFERING: Final = (
    "all-to-all", "collective-permute", "reduce-scatter", "partition-id", "replica-id",
    "ragged-all-to-all", "send", "recv", "async-", "infeed",
)  # fmt: skip
"""Beginnings of opcodes whose results may differ on devices that compute the same.

A sum over all devices, or the parts of all, are the same on each.
"""

_REPLICATED_BATCH: Final[Remedies] = {
    "jax": "Shard the batch over the devices: in_shardings of jax.jit, or jax.device_put(batch,"
    " NamedSharding(mesh, P('data'))); with jax.shard_map also in_specs.",
    "tensorflow": "Split the dataset over the replicas"
    " (strategy.experimental_distribute_dataset), or give the batch a sharded DTensor layout.",
    "pytorch": "Call mark_sharding (torch_xla.distributed.spmd) on the batch.",
}
_REPLICATED: Final[Remedies] = {
    "jax": "Shard it over a mesh axis (in_shardings of jax.jit, or jax.device_put), and constrain"
    " the activations that use it: jax.lax.with_sharding_constraint(h, P('data', ...)) before"
    " and after the layer. Without the constraint the compiler may gather it, or replicate the"
    " activations and need more memory than before.",
    "tensorflow": "Give a sharded DTensor layout to the variable and to the activations that use it"
    " (tf.experimental.dtensor.relayout); otherwise the activations are replicated.",
    "pytorch": "Call mark_sharding (torch_xla.distributed.spmd) on the parameter and on the"
    " activations that use it; otherwise the activations are replicated.",
}
_REPLICATED_STATE: Final[Remedies] = {
    "jax": "Make the state with the shardings of the parameters: jax.jit(optimizer.init,"
    " out_shardings=...), or jax.device_put; and give them to in_shardings and out_shardings of the"
    " step.",
    "tensorflow": "Give the slots of the optimizer the DTensor layouts of their variables.",
    "pytorch": "Call mark_sharding (torch_xla.distributed.spmd) on the optimizer's state, as on the"
    " parameters.",
}


def replicated_parameters(
    program: PeakProgram, rows: Sequence[Mapping[str, Cell]], explained: Container[str]
) -> Iterator[Cause]:
    """Yield a cause for the replicated parameters in the rows of waste/gathered.

    Those that other findings explain, by their labels, are left out.
    """
    found = []
    factors: dict[str, Fraction] = {}
    for row in rows:
        value = program.by_label.get(str(row["value"]))
        devices = cast("int | None", row["devices"]) or 1
        if value is None or value.label in explained or _parts(row) != 1 or devices < 2:
            continue
        found.append(evidence_row(value, f"replicated on each of {devices} devices"))
        factors[value.label] = Fraction(1, devices)
    if found:
        yield Cause(
            "waste/gathered",
            "Parameters are replicated on every device, but could be sharded",
            ChangeKind.SHARD,
            Scale(factors),
            tuple(sorted(found, key=lambda row: -int(str(row["sizeBytes"])))),
            _REPLICATED,
        )


def replicated_state(program: PeakProgram, inputs: Sequence[Mapping[str, Cell]]) -> Iterator[Cause]:
    """Yield replicated inputs of the name and the whole shape of an input that is split.

    An optimizer's state is, if it was made without the shardings of the parameters. A parameter is
    left out if no other one is split: its state alone may be, on purpose.
    """
    split: defaultdict[tuple[int, ...], list[tuple[str, int]]] = defaultdict(list)
    replicated: list[StoredValue] = []
    for row in inputs:
        value = program.by_label.get(str(row["value"]))
        if value is None or not value.dimensions or value.op_name is None:
            continue
        parts = split_dimensions(str(row["sharding"]))
        if parts is None:
            continue
        if (count := math.prod(parts)) > 1:
            whole = tuple(map(operator.mul, value.dimensions, parts))
            split[whole].append((value.op_name, count))
        else:
            replicated.append(value)
    arguments = {argument_name(name) for names in split.values() for name, _ in names}
    rows: defaultdict[bool, list[Mapping[str, Cell]]] = defaultdict(list)
    parts_of: defaultdict[bool, dict[int, int]] = defaultdict(dict)
    for value in sorted(replicated, key=lambda value: -value.size_bytes):
        own = value.op_name or ""
        for name, count in split[value.dimensions]:
            if not have_same_end(name, own):
                continue
            is_state = _depth(name) < _depth(own) or (
                _depth(name) == _depth(own) and not _feeds_products(program, value)
            )
            if is_state or argument_name(own) in arguments:
                reason = f"replicated; {name} is split into {count} parts"
                rows[is_state].append(evidence_row(value, reason))
                parts_of[is_state][value.value_id] = count
                break
    for is_state, found in rows.items():
        yield Cause(
            "waste/gathered",
            "State of split parameters is replicated on every device"
            if is_state
            else "Parameters are replicated on every device, although others and their state are"
            " split",
            ChangeKind.SHARD,
            Scale(_with_copies_and_results(program, parts_of[is_state])),
            tuple(found),
            _REPLICATED_STATE if is_state else _REPLICATED,
        )


def _feeds_products(program: PeakProgram, value: StoredValue) -> bool:
    """Return True if a product depends on an input; only an update depends on most states."""
    inputs = {each.value_id for each in program.compilation.array_parameters}
    seen, waiting = set[int](), [value]
    while waiting:
        each = waiting.pop()
        # what replaces a donated input shares its bytes with the old values, too
        is_old = each.value_id in inputs and each is not value
        if each.value_id in seen or is_old or not each.is_array:
            continue
        seen.add(each.value_id)
        waiting += (program.values[member.value_id] for member in program.members_of(each))
        for reader in program.readers_of.get(each.value_id, ()):
            if program.instructions[reader].may_multiply:
                return True
            waiting += program.made_by.get(reader, ())
    return False


def _depth(name: str) -> int:
    """Return the number of keys in the name of an input: a state has those of its parameter."""
    return name.count("[") + name.count(".")


def _with_copies_and_results(
    program: PeakProgram, parts_of: Mapping[int, int]
) -> dict[str, Fraction]:
    """Return the part to keep of inputs, of their copies, and of the results that replace them."""
    by_id = program.program.by_id
    replaced = {by_id[each].allocation: each for each in parts_of}
    shapes = {program.values[each].dimensions for each in parts_of}
    factors: dict[str, Fraction] = {}
    for planned in program.program.values:
        value = program.values[planned.value_id]
        if value.dimensions in shapes:
            same = program.sources_of(value)
            old = replaced.get(planned.allocation) if planned.lives_out else None
            for origin in {*same & parts_of.keys(), *(() if old is None else (old,))}:
                kept = Fraction(1, parts_of[origin])
                factors |= {
                    program.values[each].label: kept
                    for each in same
                    if program.values[each].dimensions == value.dimensions
                }
    return factors


def replicated_batch(program: PeakProgram, inputs: Sequence[Mapping[str, Cell]]) -> Iterator[Cause]:
    """Yield the batch of a program in which devices compute the same.

    All inputs are replicated, and nothing differs by the number of the device; or the parameters
    are split over some of the devices. The batch is the common first dimension of the largest
    replicated inputs that no result replaces, and of the results that replace none; of several, the
    one whose values fill the peak.
    """
    # parameters of a loop's body, which take the bytes of inputs, have no sharding
    labels = {value.label for value in program.compilation.array_parameters}
    inputs = [row for row in inputs if row["value"] in labels]
    splits = {row["value"]: split_dimensions(str(row["sharding"])) for row in inputs}
    known = {label: parts for label, parts in splits.items() if parts is not None}
    counts = {math.prod(parts) for parts in known.values()}
    if not known or len(known) < len(splits) or len(counts - {1}) > 1:
        return
    of_group = max(counts)
    if of_group == 1 and any(_differs(each.opcode or "") for each in program.instructions.values()):
        return
    devices = int(str(inputs[0]["devices"])) // of_group
    batches = {} if devices < 2 else _batches(program, known, devices)
    if not batches:
        return
    length, found = max(batches.items(), key=lambda each: sum(v.size_bytes for v in each[1]))
    edit = None
    if (operations := program.stored.operations) is not None:
        followed, kept = follow(operations), Fraction(1, devices)
        edits = {
            size: scaled_batch(
                program.compilation,
                kept,
                [BatchDimension(value.value_id, 0, size) for value in values],
                followed,
            )
            for size, values in batches.items()
        }
        # what is computed for each of them fills the peak: edges rather than nodes
        length = max(edits, key=lambda size: _saved_at_peak(program, edits[size]))
        order = reordering_of_choice(program.stored, program.compilation)
        found, edit = batches[length], replace(edits[length], reordering=order)
    title = "Every device computes the whole batch: all inputs are replicated"
    reason = f"replicated on each of {devices} devices, which all compute the same"
    if of_group > 1:
        title = "Every device computes the whole batch: only parameters are split"
        reason = f"replicated; {devices} groups of {of_group} devices compute the same"
    yield Cause(
        "waste/gathered",
        title,
        None if edit is None else ChangeKind.SHARD,
        edit,
        tuple(
            evidence_row(value, reason)
            for value in sorted(found, key=lambda value: -value.size_bytes)
        ),
        _REPLICATED_BATCH,
        f"the first dimension of these inputs, {length}, is assumed to be the batch",
        is_exact=True,
        likelihood=0.9,
    )


def _batches(
    program: PeakProgram, splits: Mapping[Cell, tuple[int, ...]], devices: int
) -> dict[int, list[StoredValue]]:
    """Return what may be the length of a replicated batch, with its inputs; none if it is split."""
    results = [program.values[each] for each in program.compilation.results]
    updated = {value.shape for value in results}
    given = {value.shape for value in program.compilation.array_parameters}
    kept = [each for each in program.compilation.array_parameters if each.shape not in updated]
    if any((splits.get(value.label) or (1,))[0] > 1 for value in kept):
        return {}  # it may be a part of the batch
    made = {value.dimensions[0] for value in results if value.dimensions} - {
        value.dimensions[0] for value in results if value.dimensions and value.shape in given
    }
    batches: defaultdict[int, list[StoredValue]] = defaultdict(list)
    for value in kept:
        length = value.dimensions[0] if value.dimensions else 1
        is_whole = math.prod(splits.get(value.label, (0,))) == 1
        if is_whole and not length % devices and (not made or length in made):
            batches[length].append(value)
    return batches


def _saved_at_peak(program: PeakProgram, edit: ScaleBatch) -> Fraction:
    freed = (
        value.size_bytes * (1 - edit.kept_by_id.get(value.value_id, Fraction(1)))
        for value in program.at_peak
    )
    return sum(freed, start=Fraction())


def _parts(row: Mapping[str, Cell]) -> int | None:
    return part_count(cast("str | None", row["sharding"]))


def _differs(opcode: str) -> bool:
    return opcode.startswith(_DIFFERING)

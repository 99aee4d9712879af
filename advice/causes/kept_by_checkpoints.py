"""Find values that are kept for the backward pass although a checkpoint wraps their ops.

The op names of its backward pass (`checkpoint`) show a checkpoint, and `rematted_computation` shows
what it recomputes. Within a loop the compiler cannot merge the second computation with the first:
if nothing is recomputed there, the policy keeps everything.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from xlagraph.advice.causes.cause import Cause, evidence_row
from xlagraph.advice.causes.loop_states import handed_on
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.recomputable_values import is_recomputable, is_stacked_carry
from xlagraph.advice.causes.repeated_parts import is_repeated_part
from xlagraph.graph.engine import Cell
from xlagraph.hlo.op_names import is_checkpointed, is_recomputed, scope_parts
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.recomputing import Recompute
from xlagraph.queries.catalogue.declarations import ChangeKind

_QUERY: Final = "lifetime/kept-for-backward"
_LOOP: Final = ("while", "body")
_KEEP_LESS: Final = (
    "The layer is already wrapped. Change the policy: jax.checkpoint(layer, policy="
    "jax.checkpoint_policies.nothing_saveable), or no policy, which is the same;"
    " save_only_these_names keeps selected values."
)
_POLICY: Final = {
    "jax": _KEEP_LESS + " If there is no policy, wrap the whole body of jax.lax.scan.",
    "tensorflow": "tf.recompute_grad is already used: do not return its inner values or capture"
    " them in closures, because those are saved.",
    "pytorch": "A checkpoint is already used: wrap the whole layer, and do not pass a policy that"
    " saves values (context_fn).",
}
_WIDER: Final = {
    "jax": "The policy keeps them, or only a part is wrapped: put jax.checkpoint around the whole"
    " body of jax.lax.scan, with policy=jax.checkpoint_policies.nothing_saveable, so that only the"
    " carry is stacked. If a gradient of the loop is differentiated again (as for forces), one"
    " checkpoint holds for the inner gradient only: wrap the body twice,"
    " jax.checkpoint(jax.checkpoint(body)).",
    "tensorflow": "Put tf.recompute_grad around the whole body of the loop.",
    "pytorch": "Put the checkpoint around the whole layer that torch_xla.experimental.scan"
    " repeats, without a policy that saves values.",
}
_MERGED: Final = {
    "jax": _KEEP_LESS + " If there is no policy, the compiler merged both computations: keep"
    " prevent_cse=True outside of jax.lax.scan, or put the layers into jax.lax.scan.",
    "tensorflow": "Put the layers into a tf.while_loop, each in tf.recompute_grad: nothing can be"
    " merged across iterations.",
    "pytorch": "Use torch_xla.utils.checkpoint.checkpoint, which puts an optimization barrier"
    " around recomputed values.",
}


class _Scopes(NamedTuple):
    """Scopes in the backward pass of checkpoints, without transformations."""

    wrapped: frozenset[tuple[str, ...]]
    recomputing: frozenset[tuple[str, ...]]


def kept_by_checkpoints(
    program: PeakProgram, rows: Sequence[Mapping[str, Cell]], *, knows_merged: bool
) -> Iterator[Cause]:
    """Yield causes for the rows of lifetime/kept-for-backward that checkpoints keep.

    ``knows_merged`` is True if lifetime/not-recomputed names what checkpoints keep outside of
    loops.
    """
    scopes = _scopes(program)
    if not scopes.wrapped:
        return
    by_policy: list[StoredValue] = []
    stacked: list[StoredValue] = []
    merged: list[StoredValue] = []
    for row in rows:
        value = program.by_label.get(str(row["value"]))
        if value is None or row["recomputed"] or not row["physicalBytes"]:
            continue
        if not is_recomputable(program, value.label) or is_repeated_part(program, value.label):
            continue
        parts = scope_parts(value.attributed_op_name or "")
        loop = None if _is_read_in_iteration(program, value) else _loop(parts)
        if loop is not None:
            if not (_has(scopes.wrapped, loop) and _is_read_in_checkpoint(program, value)):
                continue
            if not _has(scopes.recomputing, loop):
                by_policy.append(value)
            else:
                stacked.append(value)
        elif not (knows_merged or _has(scopes.recomputing, parts[:1])) and (
            row["ofCheckpoint"] or _is_read_by_checkpoint(program, value)
        ):
            merged.append(value)
    named = (program.by_label.get(str(row["value"])) for row in rows)
    seen = {program.set_of(value) for value in named}
    stacked += [
        value
        for value in program.at_peak
        # values that only recomputed values read are not among the rows
        if value.stack_loop is not None and not value.is_backward
        if program.set_of(value) not in seen
        if (loop := _loop(scope_parts(value.attributed_op_name or ""))) is not None
        and _has(scopes.recomputing, loop)
        and _is_read_in_checkpoint(program, value)
        and value.value_id in program.backward_stacks
        and not (is_stacked_carry(program, value) or is_repeated_part(program, value.label))
    ]
    yield from _cause(
        "A checkpoint in a loop saves nothing: its policy keeps everything, or it wraps too little",
        "stacked for the backward pass, although the body of the loop has a checkpoint",
        by_policy,
        _POLICY,
    )
    yield from _cause(
        "A checkpoint in a loop still stacks values for the backward pass",
        "stacked for the backward pass: saved by the policy, or computed outside of the checkpoint",
        stacked,
        _WIDER,
    )
    yield from _cause(
        "A checkpoint recomputes nothing: its policy keeps everything, or the compiler merged it",
        "kept for the backward pass of a checkpoint that recomputes nothing",
        merged,
        _MERGED,
    )


def _is_read_by_checkpoint(program: PeakProgram, value: StoredValue) -> bool:
    readers = program.compilation.readers.get(value.value_id, ())
    return any(is_checkpointed(program.values[reader].known_op_name) for reader in readers)


def _is_read_in_iteration(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for values of a loop that it does not stack, such as one over microbatches."""
    if program.instructions[value.name].loop is None:
        return False
    sources = (program.values[each] for each in program.sources_of(value))
    return not any(program.stack_of(each) is not None for each in sources)


def _is_read_in_checkpoint(program: PeakProgram, value: StoredValue) -> bool:
    """Return True unless the backward loop that reads a stack contains no checkpoint.

    Loops next to each other have the same scopes, and may have the same loop around them.
    """
    members = handed_on(program, [value.value_id])
    own = program.stack_of(value)
    around = () if own is None else _loops_around(program, own.stack_loop)
    readers = {name for each in members for name in program.readers_of.get(each, ())}
    moved = {
        made.value_id
        for name in readers
        for made in program.made_by.get(name, ())
        if not members.isdisjoint(program.sources_of(made))
    }
    readers |= {name for each in moved for name in program.readers_of.get(each, ())}
    loops = {program.instructions[name].loop for name in readers} - {None, *around}
    return not loops or any(
        not loops.isdisjoint(_loops_around(program, each.loop))
        for each in program.instructions.values()
        if is_checkpointed(each.op_name or "")
    )


def _loops_around(program: PeakProgram, loop: str | None) -> Iterator[str]:
    while loop is not None:
        yield loop
        loop = program.instructions[loop].loop


def _scopes(program: PeakProgram) -> _Scopes:
    wrapped: set[tuple[str, ...]] = set()
    recomputing: set[tuple[str, ...]] = set()
    names = {
        name
        for value in program.values.values()
        for name in (value.op_name, value.attributed_op_name)
        if name
    }
    names |= {each.op_name for each in program.instructions.values() if each.op_name}
    for name in names:
        if is_checkpointed(name):
            parts = scope_parts(name)
            wrapped.add(parts)
            if is_recomputed(name):
                recomputing.add(parts)
    return _Scopes(frozenset(wrapped), frozenset(recomputing))


def _loop(parts: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the parts through the innermost `while/body`; None outside of loops."""
    if parts[-1:] == _LOOP[:1]:
        return (*parts, _LOOP[1])
    for end in range(len(parts), 1, -1):
        if parts[end - 2 : end] == _LOOP:
            return parts[:end]
    return None


def _has(scopes: frozenset[tuple[str, ...]], outer: tuple[str, ...]) -> bool:
    return any(scope[: len(outer)] == outer for scope in scopes)


def _cause(
    title: str, reason: str, values: Sequence[StoredValue], remedies: Mapping[str, str]
) -> Iterator[Cause]:
    if values:
        found = sorted(values, key=lambda value: -value.size_bytes)
        edit = Recompute(tuple(value.label for value in found))
        rows = tuple(evidence_row(value, reason) for value in found)
        yield Cause(_QUERY, title, ChangeKind.RECOMPUTE, edit, rows, remedies)

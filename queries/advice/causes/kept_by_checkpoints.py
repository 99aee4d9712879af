"""Values that are kept for the backward pass though a checkpoint is around what makes them.

A checkpoint is told by the op names of its backward pass (`checkpoint`), and what it computes
again by `rematted_computation`. Within a loop the compiler cannot merge the second computation
with the first: if nothing is computed again there, the policy keeps all.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from xlagraph.graph.engine import Cell
from xlagraph.queries.advice.causes.cause import Cause, evidence_row
from xlagraph.queries.advice.causes.peak_values import PeakProgram
from xlagraph.queries.advice.op_marks import is_checkpointed, is_recomputed, scope_parts
from xlagraph.queries.advice.savings import Change
from xlagraph.queries.catalogue.declarations import ChangeKind
from xlagraph.queries.stored_compilation.records import StoredValue

__all__ = ["kept_by_checkpoints"]

_QUERY: Final = "lifetime/kept-for-backward"
_LOOP: Final = ("while", "body")
_KEEP_LESS: Final = (
    "It is wrapped already. Change the policy: jax.checkpoint(layer, policy="
    "jax.checkpoint_policies.nothing_saveable), or no policy, which is the same;"
    " save_only_these_names keeps chosen ones."
)
_POLICY: Final = {
    "jax": _KEEP_LESS + " If there is no policy, put it around the whole body of jax.lax.scan.",
    "tensorflow": "tf.recompute_grad is there already: keep what is inside of it out of closures"
    " and outputs, which are saved.",
    "pytorch": "The checkpoint is there already: use one without a policy that saves"
    " (context_fn), around the whole layer.",
}
_WIDER: Final = {
    "jax": "It is wrapped already, in part: put jax.checkpoint around the whole body of"
    " jax.lax.scan, with policy=jax.checkpoint_policies.nothing_saveable, so that only the carry"
    " is stacked.",
    "tensorflow": "Put tf.recompute_grad around the whole body of the loop.",
    "pytorch": "Put the checkpoint around the whole layer that torch_xla.experimental.scan"
    " repeats, without a policy that saves.",
}
_MERGED: Final = {
    "jax": _KEEP_LESS + " If there is no policy, the compiler merged both computations: leave"
    " prevent_cse=True outside of jax.lax.scan, or put the layers into jax.lax.scan.",
    "tensorflow": "Put the layers into a tf.while_loop, each in tf.recompute_grad: from one turn to"
    " the next nothing can be merged.",
    "pytorch": "Use torch_xla.utils.checkpoint.checkpoint, which puts an optimization barrier"
    " around what is computed again.",
}


class _Scopes(NamedTuple):
    """Scopes of the backward pass of checkpoints, without transformations."""

    wrapped: frozenset[tuple[str, ...]]
    recomputing: frozenset[tuple[str, ...]]


def kept_by_checkpoints(
    program: PeakProgram, rows: Sequence[Mapping[str, Cell]], *, knows_merged: bool
) -> Iterator[Cause]:
    """Yield what checkpoints keep, of the rows of lifetime/kept-for-backward.

    ``knows_merged``: lifetime/not-recomputed names what checkpoints keep outside of loops.
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
        parts = scope_parts(value.attributed_op_name or "")
        loop = _loop(parts)
        if loop is not None:
            if not _has(scopes.wrapped, loop):
                continue
            (stacked if _has(scopes.recomputing, loop) else by_policy).append(value)
        elif not (knows_merged or _has(scopes.recomputing, parts[:1])) and (
            row["ofCheckpoint"] or _is_read_by_checkpoint(program, value)
        ):
            merged.append(value)
    yield from _cause(
        "A checkpoint in a loop saves nothing: its policy keeps all, or it is around too little",
        "stacked for the backward pass, though a checkpoint is in the body of the loop",
        by_policy,
        _POLICY,
    )
    yield from _cause(
        "A checkpoint inside a loop still stacks values for the backward pass",
        "stacked for the backward pass: saved by the policy, or made outside of the checkpoint",
        stacked,
        _WIDER,
    )
    yield from _cause(
        "A checkpoint computes nothing again: its policy keeps all, or the compiler merged it",
        "kept for the backward pass of a checkpoint that computes nothing again",
        merged,
        _MERGED,
    )


def _is_read_by_checkpoint(program: PeakProgram, value: StoredValue) -> bool:
    facts = program.stored.facts
    readers = program.stored.readers.get(value.value_id, ())
    return any(is_checkpointed(facts[reader].op_name) for reader in readers if reader in facts)


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
        change = Change(ChangeKind.RECOMPUTE, tuple(value.label for value in found))
        rows = tuple(evidence_row(value, reason) for value in found)
        yield Cause(_QUERY, title, change, rows, remedies)

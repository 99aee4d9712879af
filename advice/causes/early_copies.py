"""Find copies of one value, such as zeros, that a GPU writes at once, long before most are read.

Buffers of the same shape begin with the same zeros: the stacks of several loops, the results of
several scatters. XLA computes them once and copies them for each that writes into them. The GPU's
pass `copy_fusion` then joins the copies in one instruction, so that all exist from the first read
to the last.
"""

from collections.abc import Iterator
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.chosen_again import reordering_of_choice
from xlagraph.planner.edits.separate_copies import SeparateCopies
from xlagraph.queries.catalogue.declarations import ChangeKind

_MADE_OF: Final = frozenset(("constant", "broadcast", "iota", "bitcast", "copy", "tuple"))
"""What a fusion of copies computes if it reads nothing, so that nothing is kept for a later one."""
_LEAST_WAITING: Final = 0.2
"""Least share of the temporaries at the peak that copies with a long wait take."""
_LONG_WAIT: Final = 0.05
"""Share of the schedule between the peak and the first read, from which a wait is long."""
_FLAG: Final = "XLA_FLAGS=--xla_disable_hlo_passes=copy_fusion"
_AGAIN: Final = (
    "so that each copy is made just before it is written to (tried with jaxlib 0.10.2 for an H100);"
    " or run what writes into the copies"
)
_REMEDIES: Final[Remedies] = {
    "jax": 'Compile with compiler_options={"xla_disable_hlo_passes": "copy_fusion"} of jax.jit,'
    f" {_AGAIN} as iterations of one loop (jax.lax.scan, jax.lax.map).",
    "tensorflow": f"Compile with {_FLAG}, {_AGAIN} as iterations of one tf.while_loop.",
    "pytorch": f"Compile with {_FLAG}, {_AGAIN} one after another, with torch_xla.sync() between.",
}


def early_copies(program: PeakProgram) -> Iterator[Cause]:
    """Yield the copies that wait at the peak until they are first read."""
    peak = program.peak_step
    if peak is None or not program.compilation.is_gpu:
        return
    moved: list[int] = []
    waiting: list[tuple[int, StoredValue]] = []
    for copies in _joined_copies(program):
        reads = [(_first_read(program, each), each) for each in copies]
        # the last is what the others are copied from
        *early, _ = sorted(reads, key=lambda read: (read[0], read[1].label))
        moved += (value.value_id for _, value in early)
        waiting += (each for each in early if each[0] > peak)
    waiting = [each for each in waiting if (each[1].live_from or 0) <= peak]
    long_wait = _LONG_WAIT * (program.stored.totals.schedule_length or 0)
    held = sum(value.size_bytes for read, value in waiting if read - peak >= long_wait)
    if not waiting or held < _LEAST_WAITING * program.temp_bytes_at_peak:
        return
    if (found := reordering_of_choice(program.stored, program.compilation)) is None:
        return  # without these copies the compiler may choose another order
    waiting.sort(key=lambda each: -each[1].size_bytes)
    rows = (
        evidence_row(
            value,
            f"{value.name} writes several copies at once; this one is first read at step {read},"
            f" and the peak is at {peak}",
        )
        for read, value in waiting
    )
    yield Cause(
        "lifetime/longest",
        "Copies of the same value are written at once, long before most of them are read",
        ChangeKind.MOVE,
        SeparateCopies.of(found, program.compilation, moved),
        tuple(rows),
        _REMEDIES,
        likelihood=0.9,
    )


def _joined_copies(program: PeakProgram) -> Iterator[list[StoredValue]]:
    """Yield the results of each fusion that reads nothing, and only copies what it computes."""
    for name, maker in program.instructions.items():
        if (
            maker.opcode == "fusion"
            and maker.computes_only(_MADE_OF)
            and maker.computes_with("copy")
        ):
            made = [(program.planned(each), each) for each in program.made_by.get(name, ())]
            copies = [each for planned, each in made if planned and not planned.is_table]
            if len(copies) > 1:
                yield copies


def _first_read(program: PeakProgram, value: StoredValue) -> int:
    """Return the step at which a value is first read."""
    by_id = program.program.by_id
    readers = program.compilation.readers.get(value.value_id, ())
    return min((by_id[each].live_from for each in readers if each in by_id), default=0)

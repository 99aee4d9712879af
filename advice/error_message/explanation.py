"""Explain a failure: what ran out, how much is missing, what to change, what is unknown."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from xlagraph.advice.error_message.failure import Failure, Stage
from xlagraph.advice.error_message.largest_lines import largest_lines
from xlagraph.presentation.byte_sizes import distinct_bytes, human_bytes, share_text

_MUCH_PADDING: Final = 0.1
"""Share of the requested bytes from which padding is worth a change."""
_DUMP_FLAGS: Final = 'XLA_FLAGS="--xla_dump_to=DIR --xla_dump_hlo_as_text"'


@dataclass(frozen=True, slots=True)
class Unknown:
    """A fact missing from the message, and how to get it."""

    text: str
    remedy: str
    is_in_dumps: bool = False
    """True if the dumps of the program contain it."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A failure in sentences."""

    verdict: str
    """The stage, the requested bytes and the capacity, in one sentence."""
    facts: tuple[str, ...]
    """Missing bytes, other memory in use, padding, and the user's line."""
    changes: tuple[str, ...]
    """Suggested changes, the most promising first."""
    unknown: tuple[Unknown, ...]


def explain(failure: Failure) -> Explanation:
    """Explain a failure from its message alone."""
    return Explanation(
        _verdict(failure),
        tuple(_facts(failure)),
        tuple(_changes(failure)),
        tuple(_unknown(failure)),
    )


def _verdict(failure: Failure) -> str:
    asked, there = _distinct(failure.requested_bytes, failure.capacity_bytes)
    if failure.stage is Stage.REMATERIALIZATION:
        return _of_rematerialization(failure, asked, there)
    if failure.is_outside_pool:
        return (
            "The code of a kernel could not be loaded: the GPU had no free memory outside of the"
            " pool that the framework reserves."
        )
    if failure.memory_space == "shared" and failure.requested_bytes is None:
        return (
            "A kernel does not fit: one of its blocks needs more shared memory than the GPU has."
            " The batch does not change that."
        )
    if failure.memory_space == "shared":
        return (
            f"A kernel does not fit: one of its blocks needs {asked} of the GPU's shared memory,"
            f" which has {there}. The batch does not change that."
        )
    if failure.is_scoped:
        what = f"%{failure.instruction}" if failure.instruction else "one instruction"
        return (
            f"The plan does not fit: {what} needs {asked} of scoped {_space(failure)},"
            f" its limit is {there}. The compiler rejected the program; nothing was run."
        )
    if failure.stage is Stage.PLAN:
        return (
            f"The plan does not fit: the program needs {asked} of {_space(failure)},"
            f" which has {there}."
            " The compiler rejected the program; nothing was run."
        )
    what = _asked_for(failure)
    asked, free = _distinct(failure.requested_bytes, failure.room_bytes)
    is_known = failure.room_bytes is not None
    room = f"{free} were free" if is_known else "the message does not say how much was free"
    if is_known and failure.capacity_bytes is not None:
        room += f" of {human_bytes(failure.capacity_bytes)}"
    verb = "load a program" if failure.stage is Stage.PROGRAM_LOAD else "allocate"
    return (
        f"The plan was accepted, but the device was too full to {verb} when it ran:"
        f" {asked} were requested{what}; {room}."
    )


def _of_rematerialization(failure: Failure, reached: str, limit: str) -> str:
    if failure.requested_bytes is None:
        return f"XLA's rematerialization did not bring the program below its limit of {limit}."
    if failure.argument_bytes is not None or failure.original_bytes is None:
        return (
            f"Inputs and outputs alone take {reached}, more than XLA's base limit of {limit}:"
            " no rematerialization can make the program fit."
        )
    return (
        f"XLA's rematerialization reduced the program from {human_bytes(failure.original_bytes)}"
        f" to {reached}, and not to its limit of {limit}. The program was compiled all the same."
    )


def _asked_for(failure: Failure) -> str:
    """Return an allocation's purpose, if the message contains a buffer assignment."""
    if failure.stage is Stage.PROGRAM_LOAD:
        return f" by {failure.module}" if failure.module else ""
    asked = failure.requested_bytes
    names = {
        "preallocated temp": "the temporaries of the program, in one block",
        "maybe_live_out": "results of the program",
        "parameter": "arguments of the program",
    }
    for name, text in names.items():
        size = failure.part_bytes(name)
        # the breakdown is rounded to two decimals
        if asked and size and abs(asked - size) <= size * 0.01:
            return f" ({text})"
    return ""


def _facts(failure: Failure) -> Iterator[str]:
    missing = failure.missing_bytes
    if missing:
        yield f"Missing: {human_bytes(missing)}."
    elif missing == 0 and not failure.is_compiled:
        yield "Enough was free, but not in one block: the memory is fragmented."
    if failure.contiguous_bytes is not None and failure.room_bytes is not None:
        yield (
            f"The largest free block had {human_bytes(failure.contiguous_bytes)}"
            f" of {human_bytes(failure.room_bytes)} free."
        )
    yield from _resident(failure)
    if failure.module and failure.stage is Stage.ALLOCATOR:
        yield f"The program that requested it: {failure.module}."
    padding = failure.padding_bytes
    if padding and failure.requested_bytes:
        share = share_text(min(1.0, padding / failure.requested_bytes))
        yield f"Padding: {human_bytes(padding)}, {share} of the requested bytes."
    line = failure.traceback_line
    if line is not None:
        function = f" in {line.function}" if line.function else ""
        yield f"Your line: {line.file}:{line.line}{function}."
    if failure.is_cut:
        yield "The message is cut in the middle: its end is missing."


def _resident(failure: Failure) -> Iterator[str]:
    """Yield sentences about other memory in use."""
    if failure.is_compiled:
        others = [
            f"{name} {human_bytes(size)}"
            for name in ("reserved", "arguments", "heap allocations (without fragmentation)")
            if (size := failure.part_bytes(name))
        ]
        if others:
            yield f"In addition to the program: {', '.join(others)}."
        return
    in_use = failure.in_use_bytes
    if in_use is None and failure.capacity_bytes is not None and failure.free_bytes is not None:
        in_use = failure.capacity_bytes - failure.free_bytes
    own = sum(failure.part_bytes(name) or 0 for name in ("parameter", "constant"))
    if in_use is not None and own:
        foreign = max(0, in_use - own)
        yield (
            f"{human_bytes(in_use)} were in use: {human_bytes(own)} at most are arguments and"
            f" constants of this program, {human_bytes(foreign)} or more are arrays that you still"
            " hold and other programs."
        )
    elif in_use is not None:
        yield f"{human_bytes(in_use)} were in use: arrays that you hold, and other programs."
    elif own:
        yield (f"Of this program {human_bytes(own)} of arguments and constants were there already.")


def _changes(failure: Failure) -> Iterator[str]:
    if failure.is_outside_pool:
        yield (
            "Leave more memory outside of the pool: a smaller XLA_PYTHON_CLIENT_MEM_FRACTION"
            " (0.75 is JAX's default), or XLA_PYTHON_CLIENT_PREALLOCATE=false."
        )
        yield "Compile fewer programs, or end other processes that use the same GPU."
        return
    if failure.memory_space == "shared":
        yield (
            f"Use smaller blocks in the kernel{_at(_kernel_line(failure))}, or fewer stages"
            " (num_stages of Pallas and Triton): both multiply its shared memory."
        )
        return
    if failure.argument_bytes is not None:
        yield (
            "Make inputs and outputs smaller, because both stay in memory: shard them over more"
            " devices, use smaller types, donate inputs (donate_argnums), or use a smaller batch."
        )
        return
    if failure.stage is Stage.REMATERIALIZATION:
        yield (
            "Recompute in the program (jax.checkpoint), where you know what is cheap, shard over"
            " more devices, or use a smaller batch."
        )
        return
    if failure.memory_space == "smem":
        yield (
            f"Prefetch fewer scalars in the kernel{_at(_kernel_line(failure))}: scalar memory holds"
            " its scalar-prefetch arguments and SMEM scratch."
        )
        return
    if failure.is_constant:
        yield (
            "Pass large arrays as arguments: an array that a function closes over becomes a"
            " constant of its program, which is a second copy."
        )
    if failure.is_scoped or failure.memory_space == "vmem":
        yield (
            f"Use smaller blocks in the kernel{_at(_kernel_line(failure))}, or raise its limit:"
            " vmem_limit_bytes of a Pallas kernel,"
            " LIBTPU_INIT_ARGS=--xla_tpu_scoped_vmem_limit_kib=N for all."
        )
        return
    asked = failure.requested_bytes or 0
    padded = [share for share in largest_lines(failure) if share.padding_bytes]
    if padded and failure.padding_bytes >= _MUCH_PADDING * asked:
        worst = max(padded, key=lambda share: share.padding_bytes)
        yield (
            f"Padding first: {human_bytes(worst.padding_bytes)} of {worst.shape or 'the largest'}"
            f"{_at(worst.line)} hold nothing. Make its two minor dimensions multiples of"
            " (8, 128), or transpose or merge dimensions."
        )
    lines = largest_lines(failure)
    if lines:
        first = lines[0]
        name = first.op_name or first.label
        what = f"produced by {name}" if name else f"of one {first.shape or 'allocation'}"
        yield (
            f"The largest first: {human_bytes(first.size_bytes)} {what}{_at(first.line)}."
            " Compute it in pieces, shard it, recompute it (jax.checkpoint), or use a smaller type."
        )
    not_shared = (failure.output_bytes or 0) - (failure.output_shared_bytes or 0)
    if failure.output_bytes and failure.output_shared_bytes is not None and not_shared:
        yield (
            f"Donate arguments (donate_argnums): {human_bytes(not_shared)} of the output share"
            " nothing with the arguments."
        )
    elif failure.part_bytes("maybe_live_out") and failure.part_bytes("parameter"):
        yield (
            "Donate arguments (donate_argnums): results take"
            f" {human_bytes(failure.part_bytes('maybe_live_out') or 0)} next to the arguments."
        )
    if not failure.is_compiled:
        yield (
            "Free what is resident: delete arrays before the call, run fewer programs at once"
            " (`xlagraph check --resident A B --capacity SIZE` adds them up)."
        )
    if failure.stage is Stage.ALLOCATOR and not lines:
        yield "Use a smaller batch, or shard over more devices."
    elif failure.stage is Stage.PLAN and not lines:
        yield "Use a smaller batch, recompute (jax.checkpoint), or shard over more devices."


def _unknown(failure: Failure) -> Iterator[Unknown]:
    if failure.is_outside_pool:
        return
    if not failure.largest and not failure.is_scoped:
        yield Unknown(
            "which values are largest",
            f"{_DUMP_FLAGS}, then `xlagraph oom LOG --dumps DIR`; a failed compilation writes"
            " its plan, too",
            is_in_dumps=True,
        )
    elif failure.is_compiled and not failure.is_scoped:
        yield Unknown(
            "what lives at the same time, and what a change saves",
            f"{_DUMP_FLAGS}, then `xlagraph oom LOG --dumps DIR`",
            is_in_dumps=True,
        )
    if failure.largest and not any(entry.source_file for entry in failure.largest):
        yield Unknown(
            "the lines that made the largest",
            "PyTorch/XLA: XLA_IR_DEBUG=1 XLA_HLO_DEBUG=1; JAX names them unless the function"
            " comes out of a cache: JAX_ENABLE_COMPILATION_CACHE=false",
        )
    if failure.is_compiled:
        if failure.missing_bytes is None:
            yield Unknown("how much is missing", "the whole message: its first line has both sizes")
        return
    if failure.room_bytes is None:
        yield Unknown(
            "how much was free, and the limit of the allocator",
            "TF_CPP_MIN_LOG_LEVEL=0 writes the statistics of the allocator (Limit, InUse)",
        )
    yield Unknown(
        "which arrays and programs were resident",
        "jax.live_arrays() or jax.profiler.save_device_memory_profile(FILE) before the call;"
        " on a TPU LIBTPU_INIT_ARGS=--tpu_log_allocations_on_oom=true",
    )
    if failure.module is None:
        yield Unknown(
            "which program requested the memory", "JAX_TRACEBACK_FILTERING=off JAX_LOG_COMPILES=1"
        )


def _kernel_line(failure: Failure) -> str | None:
    """Return file and line of the kernel, if the message has them."""
    return next((share.line for share in largest_lines(failure) if share.line), None)


def _space(failure: Failure) -> str:
    return failure.memory_space.upper() if failure.memory_space else "memory"


def _distinct(size_bytes: int | None, other_bytes: int | None) -> tuple[str, str]:
    """Return strings of two sizes that differ if the sizes do."""
    if size_bytes is not None and other_bytes is not None:
        return distinct_bytes(size_bytes, other_bytes)
    return _size(size_bytes), _size(other_bytes)


def _size(size_bytes: int | None) -> str:
    return "an unknown amount" if size_bytes is None else human_bytes(size_bytes)


def _at(line: str | None) -> str:
    return f" ({line})" if line else ""

"""Libraries that XLA calls in place of its own instructions, and the flags that turn them off."""

from collections.abc import Iterable, Sequence, Set
from typing import Final, NamedTuple

from xlagraph.comparison.held_values import HeldValue, Reserved
from xlagraph.comparison.reasons import FoundReasons, ReasonKind
from xlagraph.comparison.size_changes import without_ones


class Library(NamedTuple):
    """A library for matrix products, convolutions and the like."""

    starts: tuple[str, ...]
    """Leading parts of the targets of its custom calls, and of the names of its fusions."""
    flag: str
    """Setting of XLA_FLAGS with which XLA does not call it; empty if there is none."""


LIBRARIES: Final = {
    "YNN": Library(("ynn_fusion",), "--xla_cpu_experimental_ynn_fusion_type=invalid"),
    "oneDNN": Library(("__onednn", "onednn_fusion"), "--xla_cpu_use_onednn=false"),
    "cuBLASLt": Library(("__cublas$lt",), "--xla_gpu_enable_cublaslt=false"),
    "cuBLAS": Library(("__cublas$gemm",), "--xla_gpu_cublas_fallback=false"),
    "cuDNN": Library(("__cudnn$", "cudnn_fusion"), ""),
}
"""Libraries by the name that their users know."""


def library(value: HeldValue) -> str | None:
    """Return the name of the library that makes a value; None for XLA's own instructions."""
    made_by = value.target or (value.name if value.opcode == "fusion" else "")
    return next((name for name, of in LIBRARIES.items() if made_by.startswith(of.starts)), None)


def libraries(values: Iterable[HeldValue]) -> frozenset[str]:
    """Return the names of all libraries that make values."""
    return frozenset(name for value in values if (name := library(value)))


def is_made_by_one(of_one_program: Set[str], a: HeldValue, b: HeldValue) -> bool:
    """Return True if a library that only one program calls makes the value in that one."""
    made_by = library(a), library(b)
    return made_by[0] != made_by[1] and not of_one_program.isdisjoint(made_by)


def resized(
    of_one_program: Set[str], pairs: Sequence[tuple[HeldValue, HeldValue]]
) -> Set[tuple[HeldValue, HeldValue]]:
    """Return the values of other sizes if a library that only one program calls makes them all.

    XLA sums a dimension in parts, of which a library makes none; no dimension of the program
    changed then. Empty if values that both programs make in one way have other sizes, too.
    """
    if not of_one_program:
        return frozenset()
    found = {
        (a, b)
        for a, b in pairs
        if a.held_bytes != b.held_bytes and without_ones(a) != without_ones(b)
    }
    are_all = all(is_made_by_one(of_one_program, *pair) for pair in found)
    return found if are_all else frozenset()


def count_libraries(
    sides: tuple[Reserved, Reserved], of_one_program: Set[str], reasons: FoundReasons
) -> None:
    """Count the values that each library makes in the only program that calls it."""
    for name in of_one_program:
        reason = reasons.of(ReasonKind.LIBRARY, after=name)
        reason.count_a, reason.count_b = (
            len({value.name for value in side.values if library(value) == name}) for side in sides
        )

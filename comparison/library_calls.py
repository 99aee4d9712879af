"""Libraries that XLA calls in place of its own instructions, and the flags that turn them off."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from xlagraph.comparison.held_values import HeldValue


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

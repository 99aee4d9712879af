"""Groups of opcodes, by what an instruction does with the elements of its operands."""

from typing import Final

CONTROL_FLOW: Final = frozenset(("while", "conditional", "call"))
"""Other computations compute the result."""
FORWARDING: Final = frozenset(
    ("tuple", "get-tuple-element", "bitcast", "opt-barrier", "add-dependency")
)
"""The result has the bytes of an operand, or pointers to them."""
COPYING: Final = frozenset(("copy", "copy-start", "copy-done"))
"""The result has the elements of the operand, in other bytes or another layout."""
PRODUCTS: Final = frozenset(("dot", "convolution", "custom-call"))
"""Opcodes that may multiply matrices: TPUs do as convolutions, libraries and kernels as calls."""
LIBRARY_PRODUCTS: Final = ("gemm", "matmul")
"""Parts of the targets of custom calls that multiply matrices, such as `__cublas$gemm`."""
PASSING_ON: Final = CONTROL_FLOW | FORWARDING | COPYING
"""The instruction itself computes no element."""

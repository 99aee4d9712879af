"""Read the attributes of an instruction that rules and measures need.

They have the names that `HloInstruction::PrintExtraAttributes` prints (xla/hlo/ir/
hlo_instruction.cc).
"""

import re
from collections.abc import Callable, Iterable
from typing import Final

from xlagraph.hlo.descriptor_sets import Message
from xlagraph.hlo.instruction import Aliasing, Attributes, Callee, Purpose
from xlagraph.hlo.shapes import index_text
from xlagraph.ingest.carriers.proto.notebook_cells import cell_or_file
from xlagraph.ingest.carriers.proto.sharding import sharding_text
from xlagraph.ingest.errors import UnfitMessage

_APPLYING: Final = frozenset((
    "call", "map", "reduce-window", "reduce", "all-reduce", "reduce-scatter", "all-reduce-start",
    "scatter", "topk", "sort",
))  # fmt: skip
_RUNNING: Final = frozenset(("fusion", "async-start", "async-update", "async-done"))
_OF_LOOP: Final[tuple[Purpose, ...]] = ("condition", "body")
_WITHOUT_NAMED_CALLEES: Final = "select-and-scatter"
_MATRIX_PRODUCT: Final = "__cublas$lt$matmul"
_TRIP_COUNT: Final = re.compile(rb'"known_trip_count":\{"n":"(\d{1,18})')
_BETA: Final = re.compile(rb'"beta":(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)')


def instruction_attributes(
    message: Message,
    before: tuple[str, ...],
    computation_name: Callable[[int], str],
    sharding: Message | None = None,
) -> Attributes:
    """Return an instruction's attributes; ``before`` are its control predecessors.

    ``sharding`` is the one that the module has for a parameter.
    """
    metadata, opcode = message.metadata, message.opcode
    target = message.custom_call_target if opcode == "custom-call" else ""
    callees = tuple(
        [
            Callee(purpose, computation_name(number))
            for purpose, number in called_computations(message)
        ]
    )
    return Attributes(
        op_name=metadata.op_name or None,
        source_file=cell_or_file(metadata.source_file) or None,
        source_line=metadata.source_line or None,
        stack_frame=metadata.stack_frame_id or None,
        target=target or None,
        sharding=_sharding(message, sharding),
        runs=callees[0].computation if opcode in _RUNNING and callees else None,
        callees=callees,
        tuple_element=message.tuple_index if opcode == "get-tuple-element" else None,
        control_predecessors=before,
        aliasing=tuple(
            [
                Aliasing(
                    index_text(each.output_shape_index),
                    each.operand_index,
                    index_text(each.operand_shape_index),
                )
                for each in message.output_operand_aliasing
            ]
        ),
        trip_count=_trip_count(message) if opcode == "while" else None,
        gemm_beta=_beta(message) if target.startswith(_MATRIX_PRODUCT) else None,
        uses_nvshmem=opcode.endswith("-start") and b"nvshmem" in message.backend_config.lower(),
    )


def _sharding(message: Message, of_module: Message | None) -> str | None:
    """Return the sharding of a parameter as text; its own comes before that of the module."""
    if message.opcode == "parameter" and message.HasField("sharding"):
        return sharding_text(message.sharding)
    return None if of_module is None else sharding_text(of_module)


def called_computations(message: Message) -> Iterable[tuple[Purpose, int]]:
    """Return the ids of the computations that an instruction calls, in the order that XLA prints.

    Raises `UnfitMessage` if a loop does not call two.
    """
    opcode, ids = message.opcode, message.called_computation_ids
    if opcode == "while":
        if len(ids) != len(_OF_LOOP):
            raise UnfitMessage(
                f"expected the body and condition of a loop, found {len(ids)} computations"
            )
        return zip(_OF_LOOP, reversed(ids), strict=True)
    if opcode == "conditional":
        return [("branch", number) for number in ids]
    if opcode == "custom-call":
        return [("called", number) for number in ids]
    if opcode == _WITHOUT_NAMED_CALLEES:  # its callees run for each element
        return ()
    return [("to_apply" if opcode in _APPLYING else "calls", number) for number in ids]


def _trip_count(message: Message) -> int | None:
    found = _TRIP_COUNT.search(message.backend_config)
    return int(found[1]) if found else None


def _beta(message: Message) -> float | None:
    found = _BETA.search(message.backend_config)
    return float(found[1]) if found else None

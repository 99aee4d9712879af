"""Parse the headlines of failures, one function for each form."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from xlagraph.advice.error_message import message_forms as forms
from xlagraph.advice.error_message.failure import Failure, LargeAllocation, Stage
from xlagraph.advice.error_message.message_forms import printed_bytes
from xlagraph.hlo.shapes import parse_shape

_TYPES: Final = {
    "float": "f32", "double": "f64", "half": "f16", "bfloat16": "bf16", "bool": "pred",
    "int8": "s8", "int16": "s16", "int32": "s32", "int64": "s64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "complex64": "c64", "complex128": "c128",
}  # fmt: skip
"""XLA's name of each TensorFlow type."""


def failure_of_headline(text: str) -> Failure | None:
    """Return the failure that a line of text reports; None if it is not a headline.

    Text after a headline (`Used … of …`) may be on the same line.
    """
    for form, read in _HEADLINES:
        if found := form.search(text):
            failure = read(found, text)
            if failure is not None:
                code = forms.CODE.search(text, 0, found.start())
                executable = forms.EXECUTABLE.search(text)
                module = executable["module"] if executable else failure.module
                return replace(failure, code=code["code"] if code else None, module=module)
    return None


def _scoped(found: re.Match[str], text: str) -> Failure:
    head = forms.SPACE_EXHAUSTED.search(text)
    return Failure(
        Stage.PLAN,
        printed_bytes(found["used"]),
        printed_bytes(found["capacity"]),
        exceeded_bytes=printed_bytes(found["exceeded"]),
        memory_space=found["space"],
        instruction=_instruction(head["instruction"]) if head else None,
        is_scoped=True,
        module=_module(text),
        largest=_kernel(printed_bytes(found["used"]), text),
    )


def _space_exhausted(found: re.Match[str], text: str) -> Failure:
    used = forms.USED_OF.search(text, found.end())
    exceeded = forms.EXCEEDED.search(text, found.end())
    return Failure(
        Stage.PLAN,
        printed_bytes(used["used"]) if used else None,
        printed_bytes(used["capacity"]) if used else None,
        exceeded_bytes=printed_bytes(exceeded["exceeded"]) if exceeded else None,
        memory_space=found["space"],
        instruction=_instruction(found["instruction"]),
        is_scoped=found["instruction"] is not None,
        module=_module(text),
    )


def _two_cores(found: re.Match[str], _: str) -> Failure:
    needed = (printed_bytes(found["tensor"]) or 0) + (printed_bytes(found["sparse"]) or 0)
    return Failure(Stage.PLAN, needed, printed_bytes(found["capacity"]), memory_space="hbm")


def _temporaries(found: re.Match[str], text: str) -> Failure:
    return Failure(
        Stage.PLAN,
        printed_bytes(found["used"]),
        printed_bytes(found["capacity"]),
        memory_space=found["space"].lower(),
        module=_module(text),
    )


def _one_allocation(found: re.Match[str], text: str) -> Failure:
    space = forms.ONE_ALLOCATION_SPACE.search(text, found.end())
    shape = forms.ONE_ALLOCATION_SHAPE.search(text, found.end())
    tag = forms.ONE_ALLOCATION_TAG.search(text, found.end())
    used = printed_bytes(found["used"])
    instruction = tag["instruction"] if tag else None
    is_scoped = bool(space and space["scoped"]) or bool(tag and tag["tag"].startswith("scoped"))
    listed: tuple[LargeAllocation, ...] = ()
    if used is not None and shape is not None:
        dense = parse_shape(shape["shape"]).dense_bytes
        listed = (
            LargeAllocation(
                used, shape=shape["shape"], unpadded_bytes=dense, instruction=instruction
            ),
        )
    return Failure(
        Stage.PLAN,
        used,
        printed_bytes(found["capacity"]),
        memory_space=space["space"] if space else None,
        instruction=instruction if is_scoped else None,
        is_scoped=is_scoped,
        largest=listed,
    )


def _not_possible(found: re.Match[str], text: str) -> Failure:
    loading = forms.LOADING.search(text)
    is_reservation = " reserve " in found[0]
    # what can be reserved is one block; what is free need not be
    contiguous = forms.CONTIGUOUS.search(text, found.end())
    largest = contiguous["contiguous"] if contiguous else found["reservable"]
    return Failure(
        Stage.PROGRAM_LOAD if loading or is_reservation else Stage.ALLOCATOR,
        printed_bytes(found["asked"]),
        free_bytes=printed_bytes(found["free"]),
        contiguous_bytes=printed_bytes(largest),
        memory_space="hbm",
        module=loading["module"] if loading else None,
    )


def _request(found: re.Match[str], _: str) -> Failure:
    """Return the failure of a request, with the allocator and its bytes as far as printed."""
    printed = found.groupdict()
    return Failure(
        Stage.ALLOCATOR,
        printed_bytes(printed.get("bytes") or printed.get("asked")),
        printed_bytes(printed.get("capacity")),
        in_use_bytes=printed_bytes(printed.get("used")),
        allocator=printed.get("allocator"),
    )


def _cubin(_: re.Match[str], __: str) -> Failure:
    return Failure(Stage.PROGRAM_LOAD, None, is_outside_pool=True)


def _constant(found: re.Match[str], _: str) -> Failure:
    return Failure(Stage.PROGRAM_LOAD, int(found["bytes"]), is_constant=True)


def _shared_memory(found: re.Match[str], text: str) -> Failure:
    return Failure(
        Stage.PLAN,
        int(found["asked"]),
        int(found["there"]),
        memory_space="shared",
        is_scoped=True,
        module=_module(text),
        largest=_kernel(int(found["asked"]), text),
    )


def _shared_exceeded(_: re.Match[str], text: str) -> Failure:
    return Failure(Stage.PLAN, None, memory_space="shared", is_scoped=True, module=_module(text))


def _rematerialization(found: re.Match[str], _: str) -> Failure:
    limit, reached, original = (
        int(found[name]) if found[name] else None for name in ("limit", "reached", "original")
    )
    return Failure(Stage.REMATERIALIZATION, reached, limit, original_bytes=original)


def _arguments(found: re.Match[str], _: str) -> Failure:
    size = int(found["arguments"])
    return Failure(Stage.REMATERIALIZATION, size, int(found["limit"]), argument_bytes=size)


def _kernel(size_bytes: int | None, text: str) -> tuple[LargeAllocation, ...]:
    """Return the kernel of a text with its source line, if the text has it."""
    op, file, line = (
        form.search(text) for form in (forms.OP_NAME, forms.SOURCE_FILE, forms.SOURCE_LINE)
    )
    if size_bytes is None or file is None:
        return ()
    return (
        LargeAllocation(
            size_bytes,
            op_name=op["op"] if op else None,
            source_file=file["file"],
            source_line=int(line["line"]) if line else None,
        ),
    )


def _bfc(found: re.Match[str], text: str) -> Failure | None:
    # XLA tries a smaller workspace then
    return None if forms.NOT_A_FAILURE in text else _request(found, text)


def _tensor(found: re.Match[str], _: str) -> Failure:
    dimensions = found["dimensions"].replace(" ", "")
    dtype = _TYPES.get(found["type"] or "", found["type"])
    shape = f"{dtype or 'tensor'}[{dimensions}]"
    size = parse_shape(shape).dense_bytes
    listed = (LargeAllocation(size, shape=shape),) if size is not None else ()
    return Failure(Stage.ALLOCATOR, size, allocator=found["allocator"], largest=listed)


def _module(text: str) -> str | None:
    op = forms.OP_NAME.search(text)
    return module_of_op(op["op"]) if op else None


def module_of_op(op_name: str) -> str | None:
    """Return the module that an op name begins with: `jit_f` of `jit(f)/jit(main)/dot`."""
    found = forms.MODULE_OF_OP.match(op_name)
    return f"{found['kind']}_{found['function']}" if found else None


def _instruction(text: str | None) -> str | None:
    return text.lstrip("%") if text else None


_Read = Callable[[re.Match[str], str], Failure | None]
# the most telling first: some stand on one line
_HEADLINES: Final[tuple[tuple[re.Pattern[str], _Read], ...]] = (
    (forms.SCOPED, _scoped),
    (forms.SPACE_EXHAUSTED, _space_exhausted),
    (forms.TWO_CORES, _two_cores),
    (forms.TEMPORARIES, _temporaries),
    (forms.ONE_ALLOCATION, _one_allocation),
    (forms.NOT_POSSIBLE, _not_possible),
    (forms.SHARED_MEMORY, _shared_memory),
    (forms.SHARED_EXCEEDED, _shared_exceeded),
    (forms.REMATERIALIZATION, _rematerialization),
    (forms.ARGUMENTS, _arguments),
    (forms.CUBIN, _cubin),
    (forms.CONSTANT, _constant),
    (forms.ASYNC_EXHAUSTED, _request),
    (forms.OUT_OF_MEMORY, _request),
    (forms.FAILED_REQUEST, _request),
    (forms.DRIVER_REFUSED, _request),
    (forms.MEMORY_LIMIT, _request),
    (forms.BFC_EXHAUSTED, _bfc),
    (forms.TENSOR, _tensor),
)

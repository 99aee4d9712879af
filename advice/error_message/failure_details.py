"""Reads the lines after a headline: sections of sizes, lists of allocations, statistics."""

from dataclasses import fields, replace
from typing import Final

from xlagraph.advice.error_message import message_forms as forms
from xlagraph.advice.error_message.failure import BreakdownPart, Failure, LargeAllocation, Stage
from xlagraph.advice.error_message.headlines import module_of_op
from xlagraph.advice.error_message.message_forms import printed_bytes, rounded

_SECTIONS: Final = (
    (forms.TOTAL_HEADER, "total"),
    (forms.PROGRAM_HEADER, "program"),
    (forms.PERSISTENT_HEADER, "persistent"),
    (forms.ASSIGNMENT_HEADER, "assignment"),
)
_ALLOCATION_SUFFIX: Final = " allocation"


def request_key(failure: Failure) -> tuple[Stage, bool, str | None]:
    """Return a key that all reports of one request share; messages round its size."""
    size = failure.requested_bytes
    return failure.stage, failure.is_scoped, None if size is None else rounded(size)


class FailureDetails:
    """A failure while it is read."""

    def __init__(self, failure: Failure) -> None:
        self._failure = failure
        self._section: str | None = None
        self._is_in_list = False
        self._entry: LargeAllocation | None = None
        self._has_list = bool(failure.largest)
        self._largest = list(failure.largest)
        self._parts: list[BreakdownPart] = []

    def failure(self) -> Failure:
        """Return the failure as far as it was read."""
        is_cut = self._entry is not None or (self._is_in_list and not self._largest)
        self._close_entry()
        failure = replace(self._failure, largest=tuple(self._largest), parts=tuple(self._parts))
        op_names = (entry.op_name for entry in failure.largest if entry.op_name)
        modules = (module_of_op(op_name) for op_name in op_names)
        module = failure.module or next((module for module in modules if module), None)
        return replace(failure, module=module, is_cut=failure.is_cut or is_cut)

    def may_be(self, other: Failure) -> bool:
        """Return True if another report, of the same size or none, can be about this failure."""
        mine = self._failure
        spaces = {mine.memory_space, other.memory_space} - {None}
        return len(spaces) <= 1 and request_key(mine)[:2] == request_key(other)[:2]

    def merge(self, other: Failure) -> bool:
        """Add facts from another report; return True if there were new ones."""
        unknown = {
            field.name: getattr(other, field.name)
            for field in fields(Failure)
            if getattr(self._failure, field.name) is None and getattr(other, field.name) is not None
        }
        self._failure = replace(self._failure, **unknown)
        if not self._largest:
            self._largest += other.largest
        return bool(unknown)

    def read(self, text: str) -> bool:
        """Read a line that follows the headline; return whether it belongs to the failure."""
        return (
            self._begin_section(text)
            or self._read_list(text)
            or self._read_statistic(text)
            or self._read_part(text)
        )

    def _begin_section(self, text: str) -> bool:
        for header, whole in _SECTIONS:
            if found := header.match(text):
                self._close_entry()
                self._section, self._is_in_list = whole, False
                # a section that is there already is not read again where the report is repeated
                is_known = any(part.whole == whole for part in self._parts)
                space = found.groupdict().get("space") or self._failure.memory_space
                if is_known or space != (self._failure.memory_space or space):
                    self._section = None
                return True
        if forms.LIST_HEADER.match(text):
            self._close_entry()
            self._section, self._is_in_list = None, not self._has_list
            self._has_list = True
            return True
        return False

    def _read_part(self, text: str) -> bool:
        if self._section is None:
            return False
        found = forms.PART.match(text)
        if found is None:
            if text.strip():
                self._section = None
            return False
        name = found["name"].strip()
        size = None if found["size"] == "unknown size" else printed_bytes(found["size"])
        if not name.endswith("fragmentation"):
            padded, unpadded = printed_bytes(found["padded"]), printed_bytes(found["unpadded"])
            padding = None if padded is None or unpadded is None else padded - unpadded
            part = BreakdownPart(
                self._section, name.removesuffix(_ALLOCATION_SUFFIX), size, padding
            )
            self._parts.append(part)
        return True

    def _read_statistic(self, text: str) -> bool:
        failure = self._failure
        if found := forms.STATISTIC.match(text):
            known = printed_bytes(found["bytes"])
            if found["name"] == "Limit":
                # cudaMallocAsync has no limit, and prints 0
                self.merge(replace(failure, capacity_bytes=known or None))
            else:
                self.merge(replace(failure, in_use_bytes=known))
        elif found := forms.POOL.search(text):
            self.merge(replace(failure, capacity_bytes=int(found["limit"])))
        elif found := forms.FREE_OF_TOTAL.search(text):
            free, total = int(found["free"]), int(found["total"])
            self.merge(replace(failure, free_bytes=free, capacity_bytes=total))
        elif found := forms.OUTPUT.match(text):
            self.merge(
                replace(
                    failure,
                    output_bytes=printed_bytes(found["size"]),
                    output_shared_bytes=printed_bytes(found["shared"]),
                )
            )
        elif found := forms.CAPACITY.match(text):
            self.merge(replace(failure, capacity_bytes=printed_bytes(found["capacity"])))
        elif found := forms.ALLOCATED.match(text):
            self.merge(replace(failure, in_use_bytes=printed_bytes(found["used"])))
        elif found := forms.EXCEEDED.search(text):
            self.merge(replace(failure, exceeded_bytes=printed_bytes(found["exceeded"])))
        elif found := forms.CONTIGUOUS.search(text):
            self.merge(replace(failure, contiguous_bytes=printed_bytes(found["contiguous"])))
        else:
            return "bfc_allocator.cc" in text
        return True

    def _read_list(self, text: str) -> bool:
        if not self._is_in_list:
            return False
        if found := forms.ENTRY.match(text):
            self._close_entry()
            self._entry = LargeAllocation(printed_bytes(found["size"]) or 0)
            return True
        if self._entry is None:
            return False
        if forms.ENTRY_END.match(text):
            self._close_entry()
            return True
        if found := forms.FIELD.match(text):
            self._entry = _with_field(self._entry, found["field"], found["text"].strip())
            return True
        return False

    def _close_entry(self) -> None:
        if self._entry is not None and self._entry.size_bytes:
            self._largest.append(self._entry)
        self._entry = None


def _with_field(entry: LargeAllocation, field: str, text: str) -> LargeAllocation:
    """Return an entry of a list with one more of its lines."""
    match field:
        case "Size":
            return replace(entry, size_bytes=_size_of(text) or entry.size_bytes)
        case "Unpadded size":
            return replace(entry, unpadded_bytes=_size_of(text))
        case "Shape" | "Entry Parameter Subshape":
            kind = "parameter" if field.startswith("Entry") else entry.kind
            return replace(entry, shape=text, kind=kind)
        case "Allocation type" | "Tag":
            return replace(entry, kind=text)
        case "Operator":
            return _with_metadata(entry, text)
        case _:
            instruction = forms.INSTRUCTION.match(text)
            labelled = replace(
                entry, label=text, instruction=instruction["name"] if instruction else None
            )
            return _with_metadata(labelled, text)


def _with_metadata(entry: LargeAllocation, text: str) -> LargeAllocation:
    """Return an entry with the op and the line of a text that carries metadata."""
    op, file, line = (
        form.search(text) for form in (forms.OP_NAME, forms.SOURCE_FILE, forms.SOURCE_LINE)
    )
    return replace(
        entry,
        op_name=entry.op_name or (op["op"] if op else None),
        source_file=entry.source_file or (file["file"] if file else None),
        source_line=entry.source_line or (int(line["line"]) if line else None),
    )


def _size_of(text: str) -> int | None:
    try:
        return printed_bytes(text)
    except ValueError:  # cut in the middle
        return None

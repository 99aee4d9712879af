"""Write get-tuple-elements into a module text that prints ``%t#1`` in their place.

Since jaxlib 0.11 a module text leaves out most of them (``xla_dump_compact_gte``). The memory plan
names them in its schedule and among the positions of values: the element 1 of ``%t`` is the
instruction without a line that shows the same value, and runs between ``%t`` and the reader.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from xlagraph.hlo.instruction_text import parse_instruction
from xlagraph.hlo.shapes import WHOLE, Shape
from xlagraph.ingest.carriers.text.printed_plan import PrintedPlan

# the indented lines of a computation
_BODY: Final = re.compile(r"(?:^  [^\n]*+\n?)++", re.MULTILINE)
_NAME: Final = re.compile(r"^  (?:ROOT )?%?([^\s=]++) = ", re.MULTILINE)
# %t#1   %t#1#0 of a nested tuple
_ELEMENT: Final = re.compile(r"%([^\s,()#{}]++)((?:#\d{1,9})++)(?=[,)])")


def with_tuple_elements(text: str, plan: PrintedPlan) -> str:
    """Return the module text with a line for each element of a tuple that its plan names.

    Elements that the plan does not name are left as printed; so is every other line.
    """
    if plan.used_values is None or plan.live_ranges is None or _ELEMENT.search(text) is None:
        return text
    unprinted = _Unprinted(text, plan)
    return _BODY.sub(lambda body: _with_lines(body[0], unprinted), text)


class _Unprinted:
    """The instructions of a plan without a line in the module text."""

    def __init__(self, text: str, plan: PrintedPlan) -> None:
        schedule = plan.live_ranges.schedule if plan.live_ranges is not None else ()
        self.steps: Mapping[str, int] = {name: step for step, name in enumerate(schedule)}
        self._value_at: dict[tuple[str, str], int] = {}
        shown: defaultdict[int, list[str]] = defaultdict(list)
        names = self.steps.keys() - _NAME.findall(text)
        for value_id, positions, _ in plan.used_values or ():
            for name, index in positions:
                self._value_at[name, index or WHOLE] = value_id
                if name in names and index in (None, WHOLE):
                    shown[value_id].append(name)
        self._shown_by = {
            each: sorted(found, key=self.steps.__getitem__) for each, found in shown.items()
        }
        self._taken: set[str] = set()

    def take(self, source: str, number: str, until: float) -> str | None:
        """Return the instruction that shows an element before a step; each one only once."""
        value_id = self._value_at.get((source, f"{{{number}}}"))
        begin = self.steps.get(source, -1)
        for name in self._shown_by.get(value_id, ()) if value_id is not None else ():
            if begin < self.steps[name] < until and name not in self._taken:
                self._taken.add(name)
                return name
        return None


def _with_lines(body: str, unprinted: _Unprinted) -> str:
    if _ELEMENT.search(body) is None:
        return body
    return _Body(body.split("\n"), unprinted).text()


class _Body:
    """The lines of a computation, and those to write between them."""

    def __init__(self, lines: Sequence[str], unprinted: _Unprinted) -> None:
        self._lines = lines
        self._unprinted = unprinted
        self._names = [found[1] if (found := _NAME.match(line)) else "" for line in lines]
        self._shapes: dict[str, Shape | None] = {}
        self._elements: dict[tuple[str, str], str | None] = {}
        self._added: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
        """Steps and texts of the new lines, by the line that follows."""

    def text(self) -> str:
        """Return all lines, with the elements of tuples by name."""
        lines = [self._line(row) for row in range(len(self._lines))]
        written: list[str] = []
        for row, line in enumerate(lines):
            written += [added for _, added in sorted(self._added.get(row, ()))]
            written.append(line)
        return "\n".join(written)

    def _line(self, row: int) -> str:
        def operand(found: re.Match[str]) -> str:
            name = self._element(found[1], found[2], row)
            return found[0] if name is None else f"%{name}"

        operation, metadata, rest = self._lines[row].partition(", metadata=")
        return _ELEMENT.sub(operand, operation) + metadata + rest

    def _element(self, source: str, numbers: str, row: int) -> str | None:
        """Return the name of an element of an instruction, with a new line at its first reader."""
        key = source, numbers
        if key not in self._elements:
            self._elements[key] = self._added_element(source, numbers, row)
        return self._elements[key]

    def _added_element(self, source: str, numbers: str, row: int) -> str | None:
        outer, _, number = numbers.rpartition("#")
        whole = self._element(source, outer, row) if outer else source
        shape = None if whole is None else self._shape(whole)
        if whole is None or shape is None or int(number) >= len(shape.elements):
            return None
        steps = self._unprinted.steps
        name = self._unprinted.take(whole, number, steps.get(self._names[row], float("inf")))
        if name is None:
            return None
        element = self._shapes[name] = shape.elements[int(number)]
        text = f"  %{name} = {element.text} get-tuple-element(%{whole}), index={number}"
        of_lines = [steps.get(each, -1) for each in self._names[:row]]
        self._added[bisect_right(of_lines, steps[name])].append((steps[name], text))
        return name

    def _shape(self, name: str) -> Shape | None:
        if name not in self._shapes:
            row = self._names.index(name) if name in self._names else None
            text = None if row is None else self._lines[row].partition(" = ")[2]
            self._shapes[name] = None if text is None else parse_instruction(name, text).shape
        return self._shapes[name]

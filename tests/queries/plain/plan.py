"""A second computation of the facts in the graph: from a plan, by the definitions.

Shares no code with the ingest beyond the parser.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from tests.queries.plain.attribution import Attribution, Result, attribute
from tests.queries.plain.measures import Takeover, alias_sets, shares_at_peak, takeovers
from tests.queries.plain.stacks import stacks
from tests.queries.plain.text import (
    PlainModule,
    PlainText,
    filled,
    read_called,
    read_instruction,
    read_module,
    read_operands,
)
from tests.queries.plain.value import PlainValue
from xlagraph.ingest import DumpFiles, DumpPart, PrintedPlan, parse_plan


@dataclass(eq=False)
class PlainDump:
    """A compilation: its plan, and the facts derived from it."""

    files: DumpFiles
    plan: PrintedPlan
    module: PlainModule
    values: list[PlainValue] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.values = _values(self)

    @property
    def key(self) -> str:
        """The key in the graph."""
        return f"{self.files.run}/{self.files.stem}"

    @property
    def schedule(self) -> tuple[str, ...]:
        """Names of instructions in schedule order."""
        return self.plan.live_ranges.schedule if self.plan.live_ranges else ()

    @cached_property
    def steps(self) -> dict[str, int]:
        """The place of each instruction in the schedule."""
        return {name: step for step, name in enumerate(self.schedule)}

    @property
    def end(self) -> int | None:
        """One past the last step; None without live ranges."""
        return self.plan.live_ranges.max_step if self.plan.live_ranges else None

    @property
    def module_name(self) -> str | None:
        """The module's name without trailing digits, from the file name."""
        found = re.fullmatch(
            r"(?:\d{10,}\.)?module_\d+\.(.+?)(?:\.cl_\d+)?\.(?:cpu_|sm_.*?gpu_)?after_optimizations",
            self.files.stem,
        )
        return re.sub(r"\.\d+$", "", found[1]) if found else None

    @property
    def platform(self) -> str | None:
        """The platform, from the file name; only TPUs lay arrays out in tiles."""
        found = re.search(r"(cpu|gpu)_after_optimizations$", self.files.stem)
        if found:
            return found[1]
        return "tpu" if any(":T(" in value.shape.text for value in self.plan.values) else None

    def value(self, label: str) -> PlainValue:
        """Return a value by its label."""
        (one,) = (value for value in self.values if value.label == label)
        return one

    def text(self, instruction: str) -> PlainText:
        """Return an instruction's text in the dump, completed from its module text."""
        text = self.plan.instructions.get(instruction)
        return filled(
            read_instruction(text) if text else PlainText(),
            self.module.instructions.get(instruction, PlainText()),
            self.module.frames,
        )

    def line(self, instruction: str) -> str:
        """Return an instruction's text, from the module text if it has it; '' if unknown."""
        return self.module.lines.get(instruction) or self.plan.instructions.get(instruction, "")

    def opcode(self, instruction: str) -> str | None:
        """Return the opcode of that text."""
        return read_instruction(self.line(instruction)).opcode

    def operands(self, instruction: str) -> list[tuple[str, tuple[int, ...]]]:
        """Return the operands of that text, each with its tuple index."""
        return read_operands(self.line(instruction))

    def called(self, instruction: str) -> list[str]:
        """Return the computations that it runs."""
        return read_called(self.line(instruction))

    def index(self, instruction: str) -> tuple[int, ...]:
        """Return the element that a get-tuple-element reads."""
        return tuple(map(int, re.findall(r", index=(\d+)", self.line(instruction))[:1]))

    @cached_property
    def named(self) -> list[str]:
        """The instructions named in the dump."""
        used = self.plan.used_values or ()
        names = [*self.schedule, *(value.name for value in self.plan.values)]
        names += [use.instruction for used_value in used for use in used_value.uses]
        return list(dict.fromkeys(names))

    @cached_property
    def stacks(self) -> dict[Result, Result]:
        """Return the values that a turn of a loop writes into the stack of a result."""
        return stacks(self)

    def attribution(self, value: PlainValue) -> Attribution:
        """Return the op and source line of a value."""
        if value not in self._attributions:
            self._attributions[value] = attribute(self, value)
        return self._attributions[value]

    @cached_property
    def _attributions(self) -> dict[PlainValue, Attribution]:
        return {}

    def root(self, instruction: str) -> str | None:
        """Return the opcode of the root of a fusion."""
        fusion = self.module.instructions.get(instruction)
        if fusion is None or fusion.opcode != "fusion" or fusion.calls is None:
            return None
        return self.module.root_opcodes.get(fusion.calls)

    def live_to_the_end(self, value: PlainValue) -> bool:
        """Return True if a value leaves the program."""
        return value.last is not None and value.last == self.end

    @property
    def colors(self) -> list[int]:
        """The memory spaces among its allocations."""
        return sorted({allocation.memory_space for allocation in self.plan.allocations})

    @property
    def allocated(self) -> int:
        """Sum of all its allocations."""
        return sum(allocation.size_bytes for allocation in self.plan.allocations)

    def reserved(self, color: int) -> int:
        """Sum the allocations of a memory space, without thread-local ones."""
        return sum(
            allocation.size_bytes
            for allocation in self.plan.allocations
            if allocation.memory_space == color and not allocation.is_thread_local
        )

    def physical_peak(self, color: int) -> int | None:
        """Return the most bytes of a memory space with a live value."""
        return None if self.end is None else sum(self.shares(color).values())

    def logical_peak(self, color: int) -> int | None:
        """Return the largest sum of the sizes of the live values of a memory space."""
        if self.end is None:
            return None
        sums = [0] * (self.end + 1)
        for value in self.values:
            if value.allocation.memory_space == color:
                for step in value.steps:
                    sums[step] += value.size
        return max(sums)

    @property
    def printed_peak(self) -> int | None:
        """Sum the peak list that XLA prints."""
        if self.plan.live_ranges is None or self.plan.live_ranges.peak is None:
            return None
        return sum(entry.bytes for entry in self.plan.live_ranges.peak.entries)

    def shares(self, color: int) -> dict[PlainValue, int]:
        """Return the bytes of each value live at the physical peak of a memory space."""
        if color not in self._shares:
            self._shares[color] = shares_at_peak(self.values, color)
        return self._shares[color]

    @cached_property
    def _shares(self) -> dict[int, dict[PlainValue, int]]:
        return {}

    @cached_property
    def takeovers(self) -> list[Takeover]:
        """The previous value in every byte of every value."""
        return takeovers(self.values)

    @cached_property
    def alias_sets(self) -> dict[PlainValue, frozenset[PlainValue]]:
        """The values that overwrite one another in place, by each of them."""
        return alias_sets(self.values)

    def share(self, value: PlainValue) -> int | None:
        """Return a value's bytes at the peak of its memory space; None if not live then."""
        return self.shares(value.allocation.memory_space).get(value)


def read_dump(files: DumpFiles) -> PlainDump:
    """Read the files of one compilation."""
    paths = [files.path, files.file("values"), files.file("live range")]
    plan = parse_plan([DumpPart(path.name, path.read_text()) for path in paths if path])
    text = files.file("module text")
    module = read_module(text.read_text()) if text is not None else PlainModule()
    return PlainDump(files, plan, module)


def chosen(dumps: Iterable[PlainDump], run: str = "", module: str = "") -> list[PlainDump]:
    """Return the dumps of a run and of a module; all if none is named."""
    return [
        dump for dump in dumps if run in ("", dump.files.run) and module in ("", dump.module_name)
    ]


def _values(dump: PlainDump) -> list[PlainValue]:
    """Join the sections of a plan."""
    plan = dump.plan
    ranges = {}
    if plan.live_ranges is not None:
        ranges = {
            (live_range.name, live_range.shape_index): live_range
            for live_range in plan.live_ranges.ranges
        }
    used = {used_value.value_id: used_value for used_value in plan.used_values or ()}
    cuts: dict[int, set[int]] = defaultdict(set)
    for value in plan.values:
        cuts[value.allocation] |= {value.offset_bytes, value.offset_bytes + value.size_bytes}
    segments = {
        number: [(number, first, past) for first, past in pairwise(sorted(edges))]
        for number, edges in cuts.items()
    }
    allocations = {allocation.number: allocation for allocation in plan.allocations}
    texts = {name: dump.text(name) for name in {value.name for value in plan.values}}
    found = []
    for value in plan.values:
        live = ranges.get((value.name, value.shape_index or "{}"))
        uses = used[value.value_id].uses if value.value_id in used else ()
        found.append(
            PlainValue(
                value_id=value.value_id,
                name=value.name,
                shape_index=value.shape_index,
                is_phi=value.is_phi,
                allocation=allocations[value.allocation],
                offset=value.offset_bytes,
                size=value.size_bytes,
                printed_shape=value.shape.text,
                first=live and live.live_from,
                last=live and live.live_until,
                last_use=max(
                    (dump.steps[use.instruction] for use in uses if use.instruction in dump.steps),
                    default=None,
                ),
                positions=used[value.value_id].positions if value.value_id in used else (),
                uses=uses,
                made=texts[value.name],
                segments=tuple(
                    segment
                    for segment in segments[value.allocation]
                    if value.offset_bytes <= segment[1]
                    and segment[2] <= value.offset_bytes + value.size_bytes
                ),
            )
        )
    return found

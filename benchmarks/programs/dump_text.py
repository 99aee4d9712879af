"""Writes a planned program like XLA: in one file, or split into three, and module text."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.programs.program import Program, Value

STAGE = "cpu_after_optimizations"


def write_split(program: Program, folder: Path, module_id: int) -> Path:
    """Write the newest layout: three files and the module text; return the first."""
    stem = f"module_{module_id:04}.{program.module_name}.{STAGE}"
    path = folder / f"{stem}-buffer-assignment.txt"
    _write(path, _allocations(program, ", page 0"))
    _write(folder / f"{stem}-buffer-assignment-values.txt", _used_values(program, "  (none)\n"))
    _write(folder / f"{stem}-live-range.txt", _live_ranges(program))
    _write(folder / f"{stem}.txt", _module_text(program))
    return path


def write_single(program: Program, folder: Path, module_id: int) -> Path:
    """Write the layout of jaxlib 0.9, one file and the module text; return the first."""
    stem = f"module_{module_id:04}.{program.module_name}.{STAGE}"
    path = folder / f"{stem}-buffer-assignment.txt"

    def lines() -> Iterator[str]:
        yield from _allocations(program, "")
        yield from _used_values(program, "")
        yield "\n\n"
        yield from _live_ranges(program)

    _write(path, lines())
    _write(folder / f"{stem}.txt", _module_text(program))
    return path


def human_bytes(count: int) -> str:
    """Return a byte count as printed next to the total: cut, never rounded up."""
    if count < 1024:
        return f"{count}B"
    for power, unit in ((4, "TiB"), (3, "GiB"), (2, "MiB")):
        if count >= 1024**power:
            return f"{count * 100 // 1024**power / 100:.2f}{unit}"
    return f"{count * 10 // 1024 / 10:.1f}KiB"


def _write(path: Path, lines: Iterator[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n", buffering=1 << 20) as file:
        file.writelines(lines)


def _allocations(program: Program, page: str) -> Iterator[str]:
    yield "BufferAssignment:\n"
    for number, allocation in enumerate(program.allocations):
        yield f"allocation {number}: size {allocation.size_bytes}{page}{allocation.kind}:\n"
        for value in sorted(allocation.values, key=lambda value: value.value_id):
            slot = f"(size={value.size_bytes},offset={value.offset_bytes})"
            yield f" value: <{value.printed}> {slot}: {value.shape}\n"


def _used_values(program: Program, none: str) -> Iterator[str]:
    total = program.total_bytes()
    yield f"\nTotal bytes used: {total} ({human_bytes(total)})\n\nUsed values:\n"
    for value in program.values:
        positions = "".join([f"  {position}\n" for position in value.positions])
        uses = "".join([f"  {use}\n" for use in value.uses]) or none
        yield (
            f"<{value.printed}>\n positions:\n{positions} uses:\n{uses}"
            f" from instruction: %{value.name} = {value.text}\n"
        )


def _live_ranges(program: Program) -> Iterator[str]:
    yield f"HloLiveRange (max {len(program.schedule)}):\n  InstructionSequence:\n"
    for step, name in enumerate(program.schedule):
        yield f"    {step}:{name}\n"
    yield "  BufferLiveRange:\n"
    for value in program.values:
        if value.first >= 0:
            yield f"    {value.name}{value.index or '{}'}:{value.first}-{value.last}\n"
    yield f"  Live ranges at {program.peak_step} (peak):\n"
    live = program.live_at_peak()
    cumulative = 0
    for value in live:
        cumulative += value.size_bytes
        yield (
            f"    {value.name}{value.index or '{}'}: {value.size_bytes} bytes"
            f" (cumulative: {cumulative} bytes)\n"
        )
    yield from _stack_trace(live, cumulative)


def _stack_trace(live: list[Value], total: int) -> Iterator[str]:
    yield f"  Stack trace breakdown for peak usage: {_grouped(total)} bytes\n"
    rest = f"total: {_grouped(total)} bytes, current: 0 bytes, remaining: {_grouped(total)} bytes"
    yield f"    main.1 (100.0%, {rest})\n"
    bytes_by_label: dict[str, int] = {}
    for value in live:
        label = value.text.partition('op_name="')[2].partition('"')[0]
        label = label.replace("\\'", "'") or value.name
        bytes_by_label[label] = bytes_by_label.get(label, 0) + value.size_bytes
    remaining = total
    last = len(bytes_by_label) - 1
    by_size = sorted(bytes_by_label.items(), key=lambda labelled: (-labelled[1], labelled[0]))
    for index, (label, size) in enumerate(by_size):
        remaining -= size
        yield (
            f"      {'└' if index == last else '├'}── {label} ({100 * size / total:.1f}%, "
            f"total: {_grouped(size)} bytes, current: {_grouped(size)} bytes, "
            f"remaining: {_grouped(remaining)} bytes)\n"
        )


def _grouped(count: int) -> str:
    return f"{count:,}".replace(",", " ")


def _module_text(program: Program) -> Iterator[str]:
    yield program.module_header
    yield from program.computations

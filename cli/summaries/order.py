"""Write what the order of instructions costs as a page."""

from dataclasses import astuple
from typing import TYPE_CHECKING, Final, TextIO

from xlagraph.cli.output.formats import Format
from xlagraph.cli.summaries.sections import Section, write_lines, write_sections
from xlagraph.planner.edits.order_result import named_order
from xlagraph.presentation.byte_sizes import change_text, human_bytes, share_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xlagraph.planner.edits.order_result import OrderCost
    from xlagraph.planner.solving import SolvedPacking

SHOWN: Final = 10
"""Number of groups of waiting values on a page."""


def write_order(result: "OrderCost", format_: Format, stream: TextIO) -> None:
    """Write a page: the answer, XLA's orders, the values that wait, and moves that save."""
    lines = [f"{result.compilation}: {result.sentence}", _parts(result)]
    if result.solved is not None:
        lines.append(_solved(result.solved, result.temp_bytes))
    write_lines(lines, format_, stream)
    write_sections(list(_sections(result)), format_, stream)
    settings = [
        f"To compile with {named_order(each.name)}: {each.setting}."
        for each in result.orders
        if each.setting is not None and each.name not in result.present
    ]
    doubts = [f"Note: {doubt}." for doubt in result.doubts]
    if settings or doubts:
        stream.write("\n")
        write_lines([*settings, *doubts], Format.TABLE, stream)


def _parts(result: "OrderCost") -> str:
    """Return which reserved bytes are due to the order, and which to the packing."""
    share = result.packing_bytes / result.temp_bytes if result.temp_bytes else 0
    proof = ", which proves the packing optimal" if result.is_packing_optimal else ""
    where = f" at {result.bound_instruction}" if result.bound_instruction else ""
    return (
        f"Reserved: {human_bytes(result.bound_bytes)} that every order needs{where},"
        f" {human_bytes(result.order_bytes)} because of the order,"
        f" {human_bytes(result.sharing_bytes)} in blocks that temporaries cannot use at the peak,"
        f" {human_bytes(result.packing_bytes)} because of the packing"
        f" ({share_text(share)} of the temporary block{proof})."
    )


def _solved(solved: "SolvedPacking", temp_bytes: int) -> str:
    """Return what the search found, and its bound."""
    saved = temp_bytes - solved.size_bytes
    found = f"a block {human_bytes(saved)} smaller than XLA's" if saved > 0 else "no smaller block"
    proof = "which is proved" if solved.is_optimal else "and is not complete"
    return (
        f"The search found {found} in {solved.seconds:.1f} s, {proof}: no packing in this order"
        f" takes less than {human_bytes(solved.bound_bytes)}."
    )


def _sections(result: "OrderCost") -> "Iterator[Section]":
    yield Section(
        "",
        ("order", "reserved", "temporary block", "change"),
        [
            (
                f"this: {', '.join(result.present) or 'none of these'}",
                human_bytes(result.reserved_bytes),
                human_bytes(result.temp_bytes),
                "",
            ),
            *[
                (
                    each.name,
                    human_bytes(each.reserved_bytes),
                    human_bytes(each.temp_bytes),
                    change_text(result.reserved_bytes, each.reserved_bytes),
                )
                for each in result.orders
            ],
            ("any", f"at least {human_bytes(result.bound_bytes)}", "", ""),
        ],
    )
    if result.waiting:
        total = sum(group.size_bytes for group in result.waiting)
        yield Section(
            f"Live at the peak, step {result.peak_step}, but not at the peak of"
            f" {named_order(result.compared_with or '')}: {human_bytes(total)}",
            ("wait", "sizeBytes", "values", "line", "scope", "largest", "delay"),
            [astuple(each) for each in result.waiting[:SHOWN]],
        )
    if result.moves:
        yield Section(
            "Moves that save most, one after the other. No setting makes them; a barrier"
            " (jax.lax.optimization_barrier) can on GPUs, and on CPUs since jaxlib 0.12",
            ("move", "instructions", "from step", "to before", "at step", "reserved after"),
            [(*astuple(each)[:-1], human_bytes(each.reserved_bytes)) for each in result.moves],
        )

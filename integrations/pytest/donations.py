"""Check that the arguments of a plan are donated, and that this saves their bytes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import pytest

from xlagraph.graph.statement_files import load_statement
from xlagraph.presentation.readable_tables import text_table
from xlagraph.pytest.look import look_text

if TYPE_CHECKING:
    from xlagraph.jax import FunctionPlan

_PARAMETERS: Final = load_statement(__file__, "parameters")
_NOT_DONATED: Final = "not donated"
_UNUSED: Final = "never used"
_COPIED: Final = "copied first"


def fail_unless_donated(
    plan: "FunctionPlan",
    arguments: Sequence[str],
    *,
    in_place: bool,
    test: str,
    folder: Path | None,
) -> None:
    """Fail unless every array of the named arguments is donated and an output takes its bytes.

    Without names all donated arrays are checked, and there must be at least one. A name is that of
    an argument, ``params``, or of an array in it, ``params['w']``. With ``in_place`` an array that
    XLA copies before it is overwritten fails, too.
    """
    donated: list[dict[str, Any]] = plan.ask("alias/donated").result.mappings()
    row_by_value = {row["value"]: row for row in donated}
    named = _named(plan, arguments) if arguments else [_of_row(row) for row in donated]
    refused = {_NOT_DONATED, _UNUSED, *([_COPIED] if in_place else [])}
    rows = [
        row for each in named if (row := _row(each, row_by_value.get(each.value)))[2] in refused
    ]
    if named and not rows:
        return
    if named:
        headline = f"{plan.name}: donation saves nothing for {len(rows)} of {len(named)} arrays"
    else:
        headline = f"{plan.name}: no argument is donated; see jax.jit(…, donate_argnums=…)"
    table = text_table(("argument", "sizeBytes", "outcome", "reason", "readAt"), rows)
    parts = [headline, table if rows else "", look_text(plan, test, folder)]
    pytest.fail("\n\n".join(filter(None, parts)), pytrace=False)


class _Argument(NamedTuple):
    name: str
    value: str
    size_bytes: int


def _of_row(row: Mapping[str, Any]) -> _Argument:
    return _Argument(row["opName"] or row["value"], row["value"], row["sizeBytes"])


def _row(argument: _Argument, donated: Mapping[str, Any] | None) -> tuple[Any, ...]:
    if donated is None:
        return argument.name, argument.size_bytes, _NOT_DONATED, None, None
    file, line = donated["readerFile"], donated["readerLine"]
    place = f"{file}:{line}" if file else None
    return argument.name, argument.size_bytes, donated["outcome"], donated["reason"], place


def _named(plan: "FunctionPlan", names: Sequence[str]) -> list[_Argument]:
    """Return the arrays of the named arguments; fail if a name matches nothing."""
    rows = plan.graph.query(_PARAMETERS, {"compilation": plan.name}).rows
    every = [_Argument(*cast("tuple[str, str, int]", row)) for row in rows]
    found: dict[_Argument, None] = {}
    for name in names:
        chosen = [each for each in every if _is_part(each.name, name)]
        if not chosen:
            known = ", ".join(each.name for each in every)
            message = f"{plan.name}: no argument is called {name!r}; its arguments are {known}"
            pytest.fail(message, pytrace=False)
        found.update(dict.fromkeys(chosen))
    return list(found)


def _is_part(name: str, argument: str) -> bool:
    return name == argument or name.startswith((f"{argument}[", f"{argument}."))

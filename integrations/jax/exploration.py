"""Variants of a function side by side: what each saves, next to what `advise` predicted."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from xlagraph.graph import Result
from xlagraph.jax.function_plan import FunctionPlan
from xlagraph.jax.planning import memory_plan
from xlagraph.jax.prediction import Call, Prediction, predict
from xlagraph.presentation.html_tables import html_title, measured_table
from xlagraph.presentation.text_tables import text_table
from xlagraph.queries import Diagnosis

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, unused-ignore]  # has no types of its own

__all__ = ["Exploration", "ExploredVariant", "Variant", "explore"]

Variant = Callable[..., Any] | Mapping[str, Any]
"""Another function, or options of `jax.jit`; ``function``, ``arguments`` and ``topology`` in it
replace those of the base."""

COLUMNS: Final = (
    "variant", "reservedBytes", "savedBytes", "savedShare", "peakBytes",
    "predictedBytes", "predictedAtMostBytes", "predictedBy", "error",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ExploredVariant:
    """One variant, compiled."""

    name: str
    plan: FunctionPlan | None
    """None where it could not be compiled."""
    saved_bytes: int | None
    """Of what the base reserves; negative where more is. None where it could not be compiled."""
    prediction: Prediction | None
    """What the plan of the base predicted; None where it says nothing about such a change."""
    error: str | None
    """Why it could not be compiled, or what the compiler refused."""


@dataclass(frozen=True, slots=True)
class Exploration:
    """Variants in the order in which they were named, after their base."""

    base: FunctionPlan
    variants: tuple[ExploredVariant, ...]

    def __iter__(self) -> Iterator[ExploredVariant]:
        return iter(self.variants)

    @property
    def result(self) -> Result:
        """A row for the base, and one for each variant."""
        base = ("base", self.base.reserved, None, None, self.base.peak, None, None, None, None)
        return Result(COLUMNS, (base, *(self._row(each) for each in self.variants)))

    def _row(self, variant: ExploredVariant) -> tuple[Any, ...]:
        plan, prediction, saved = variant.plan, variant.prediction, variant.saved_bytes
        return (
            variant.name,
            None if plan is None else plan.reserved,
            saved,
            saved / self.base.reserved if saved is not None and self.base.reserved else None,
            None if plan is None else plan.peak,
            *(prediction or (None, None, None)),
            variant.error,
        )

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the rows as a pandas frame; ImportError with the remedy without pandas."""
        return self.result.to_pandas()

    def __repr__(self) -> str:
        return text_table(*_without_empty(self.result))

    def _repr_html_(self) -> str:
        return html_title(self.base.name) + measured_table(*_without_empty(self.result))


def explore(
    function: Callable[..., Any],
    *arguments: Any,  # noqa: ANN401 - pytrees
    variants: Mapping[str, Variant],
    topology: str | Path | None = None,
    **jit_options: Any,  # noqa: ANN401 - those of `jax.jit`
) -> Exploration:
    """Compile variants of a function, and compare what each reserves; nothing runs.

    A variant is another function, or a mapping with options of `jax.jit`, which are added to those
    of the base; ``function``, ``arguments`` and ``topology`` in it replace those of the base.
    A variant that cannot be compiled has its error in its row. Raises what `memory_plan` raises
    for the base.
    """
    call = Call(function, arguments, {"topology": topology, **jit_options})
    base = memory_plan(function, *arguments, **call.options)
    diagnosis = base.advise()
    return Exploration(
        base,
        tuple(
            _explored(name, call, _changed(call, variant), base, diagnosis)
            for name, variant in variants.items()
        ),
    )


def _changed(call: Call, variant: Variant) -> Call:
    options = {**call.options, **_changes(variant)}
    function = options.pop("function", call.function)
    return Call(function, options.pop("arguments", call.arguments), options)


def _changes(variant: Variant) -> Mapping[str, Any]:
    if isinstance(variant, Mapping):
        return variant
    if callable(variant):
        return {"function": variant}
    raise TypeError(
        "expected a function, or a mapping such as {'donate_argnums': (0,)}, as a variant; found"
        f" {type(variant).__name__}"
    )


def _explored(
    name: str, before: Call, after: Call, base: FunctionPlan, diagnosis: Diagnosis
) -> ExploredVariant:
    try:
        plan = memory_plan(after.function, *after.arguments, **after.options)
    except Exception as error:  # noqa: BLE001 - of JAX, XLA or the user's function: it is shown
        return ExploredVariant(name, None, None, None, f"{type(error).__name__}: {error}")
    prediction = predict(base, diagnosis, before, after, plan)
    return ExploredVariant(name, plan, base.reserved - plan.reserved, prediction, plan.error)


def _without_empty(result: Result) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Return columns and rows without the columns that hold nothing."""
    kept = [
        index
        for index in range(len(result.columns))
        if any(row[index] is not None for row in result.rows)
    ]
    columns = tuple(result.columns[index] for index in kept)
    return columns, [tuple(row[index] for index in kept) for row in result.rows]

"""Variants of a function side by side, with actual savings and those `advise` predicted."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from xlagraph.graph import Result
from xlagraph.graph.engine import Tabular
from xlagraph.jax.function_plan import FunctionPlan
from xlagraph.jax.planning import memory_plan
from xlagraph.jax.prediction import FunctionCall, Prediction, predict
from xlagraph.presentation.outlines import Outline, OutlineTable
from xlagraph.queries import Diagnosis

Variant = Callable[..., Any] | Mapping[str, Any]
"""Another function, or options of `jax.jit`; the keys ``function``, ``arguments`` and ``topology``
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
    """Plan of the variant; None if it could not be compiled."""
    saved_bytes: int | None
    """Reserved bytes saved; negative if it reserves more, None if it could not be compiled."""
    prediction: Prediction | None
    """Saving predicted from the base's plan; None if it predicts nothing about such a change."""
    error: str | None
    """Error of JAX or of the compiler; None if it compiled without one."""


@dataclass(frozen=True, slots=True, repr=False)
class Exploration(Tabular):
    """A base and its variants, in the given order."""

    base: FunctionPlan
    variants: tuple[ExploredVariant, ...]

    def __iter__(self) -> Iterator[ExploredVariant]:
        return iter(self.variants)

    @property
    def result(self) -> Result:
        """Rows for the base and for each variant."""
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

    def _result(self) -> Result:
        return self.result

    def outline(self) -> Outline:
        """Return a row for the base and for each variant, without empty columns."""
        return Outline(self.base.name, [OutlineTable(*_without_empty(self.result))])


def explore(
    function: Callable[..., Any],
    *arguments: Any,  # noqa: ANN401 - pytrees
    variants: Mapping[str, Variant],
    topology: str | Path | None = None,
    **jit_options: Any,  # noqa: ANN401 - those of `jax.jit`
) -> Exploration:
    """Compile variants of a function, and compare their reserved memory; nothing runs.

    A variant is another function, or a mapping with options of `jax.jit`, which are added to those
    of the base. Its keys ``function``, ``arguments`` and ``topology`` replace those of the base.
    A variant that cannot be compiled has its error in its row. If the base cannot be compiled,
    raises the errors of `memory_plan`.
    """
    call = FunctionCall(function, arguments, {"topology": topology, **jit_options})
    base = memory_plan(function, *arguments, **call.options)
    diagnosis = base.advise()
    return Exploration(
        base,
        tuple(
            _explored(name, call, _changed(call, variant), base, diagnosis)
            for name, variant in variants.items()
        ),
    )


def _changed(call: FunctionCall, variant: Variant) -> FunctionCall:
    options = {**call.options, **_changes(variant)}
    function = options.pop("function", call.function)
    return FunctionCall(function, options.pop("arguments", call.arguments), options)


def _changes(variant: Variant) -> Mapping[str, Any]:
    if isinstance(variant, Mapping):
        return variant
    if callable(variant):
        return {"function": variant}
    raise TypeError(
        "expected a function, or a mapping such as {'donate_argnums': (0,)}, for a variant; found"
        f" {type(variant).__name__}"
    )


def _explored(
    name: str, before: FunctionCall, after: FunctionCall, base: FunctionPlan, diagnosis: Diagnosis
) -> ExploredVariant:
    try:
        plan = memory_plan(after.function, *after.arguments, **after.options)
    except Exception as error:  # noqa: BLE001 - from JAX, XLA or the user's function; shown as row
        return ExploredVariant(name, None, None, None, f"{type(error).__name__}: {error}")
    prediction = predict(base, diagnosis, before, after, plan)
    return ExploredVariant(name, plan, base.reserved - plan.reserved, prediction, plan.error)


def _without_empty(result: Result) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Return columns and rows without the columns that are empty."""
    kept = [
        index
        for index in range(len(result.columns))
        if any(row[index] is not None for row in result.rows)
    ]
    columns = tuple(result.columns[index] for index in kept)
    return columns, [tuple(row[index] for index in kept) for row in result.rows]

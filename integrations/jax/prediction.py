"""Savings that a function's plan predicts for a variant, without the variant's plan."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from xlagraph.jax.function_plan import FunctionPlan
from xlagraph.queries import Diagnosis, Finding, QueryError
from xlagraph.queries.catalogue.declarations import ChangeKind

_OF_SHARDING: Final = (ChangeKind.SHARD,)
_OF_TYPES: Final = (ChangeKind.HALF,)
_OF_FUNCTION: Final = (
    ChangeKind.RECOMPUTE, ChangeKind.WITHOUT, ChangeKind.LATE, ChangeKind.PACK, ChangeKind.DENSE,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A function, its arguments, and the options of `memory_plan`."""

    function: Any
    arguments: Sequence[Any]
    options: dict[str, Any]


class Prediction(NamedTuple):
    """Reserved bytes that a change of the base was predicted to save."""

    bytes: int
    """Predicted saving; the lower end if it is a range."""
    at_most: int | None
    """Upper end of the range; None if it is not a range."""
    source: str
    """``whatif donate``, or the title of an `advise` finding, marked if not certain."""


def predict(
    base: FunctionPlan,
    diagnosis: Diagnosis,
    before: FunctionCall,
    after: FunctionCall,
    variant: FunctionPlan,
) -> Prediction | None:
    """Return the prediction of the base's plan; None if it predicts nothing about the change.

    Donations are replanned by `whatif`. For another function, other types or another sharding
    the prediction is the finding of `advise` of that kind that the variant removes or reduces
    most. Nothing is predicted for other shapes or another target: they are other programs.
    """
    if before.options.get("topology") != after.options.get("topology"):
        return None
    shapes, types = _shapes_and_types(before.arguments)
    shapes_after, types_after = _shapes_and_types(after.arguments)
    if shapes != shapes_after:
        return None
    if types != types_after:
        return _of_finding(diagnosis, variant, _OF_TYPES)
    if before.function is not after.function:
        return _of_finding(diagnosis, variant, _OF_FUNCTION)
    return _of_donation(base, variant) or _of_finding(diagnosis, variant, _OF_SHARDING)


def _shapes_and_types(arguments: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    import jax

    leaves = jax.tree.leaves(arguments)
    return (
        [getattr(leaf, "shape", None) for leaf in leaves],
        [str(getattr(leaf, "dtype", type(leaf))) for leaf in leaves],
    )


def _of_donation(base: FunctionPlan, variant: FunctionPlan) -> Prediction | None:
    donated = _donated(variant) - _donated(base)
    if not donated:
        return None
    try:
        saved = base.whatif(donate=sorted(donated)).saved_bytes
    except QueryError:  # no live ranges, or no module text
        return None
    return None if saved is None else Prediction(saved, None, "whatif donate")


def _donated(plan: FunctionPlan) -> set[str]:
    """Return the numbers of the parameters that are donated."""
    return {str(row["parameterNumber"]) for row in plan.ask("alias/donated").result.mappings()}


def _of_finding(
    diagnosis: Diagnosis, variant: FunctionPlan, kinds: Collection[ChangeKind | None]
) -> Prediction | None:
    left = {finding.query.id: _most(finding) for finding in variant.advise().findings}
    gone = [
        (_most(finding) - left.get(finding.query.id, 0), finding)
        for finding in diagnosis.findings
        if finding.advice.change in kinds
    ]
    most, finding = max(gone, key=lambda each: each[0], default=(0, None))
    if finding is None or most <= 0:
        return None
    doubt = "" if finding.savings.doubt is None else ", not certain"
    return Prediction(finding.bytes, finding.savings.at_most, f"{finding.advice.title}{doubt}")


def _most(finding: Finding) -> int:
    return max(finding.bytes, finding.savings.at_most or 0)

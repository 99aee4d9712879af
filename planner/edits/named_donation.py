"""Donate named parameters in a what-if, and report the outcome for each."""

from collections.abc import Sequence
from dataclasses import dataclass

from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.compilation.value_facts import ValueFacts
from xlagraph.planner.donation import DonatedProgram, Donor, donate
from xlagraph.planner.edits.donors import is_donated, pair_donations, parameters
from xlagraph.planner.edits.patterns import matching
from xlagraph.planner.edits.result import DonatedParameter
from xlagraph.planner.planned_program import PlannedProgram
from xlagraph.queries.errors import NoSuchName

__all__ = ["Donation", "donation_of", "named_parameters"]


@dataclass(frozen=True, slots=True)
class Donation:
    """A program with named parameters donated."""

    donated: DonatedProgram
    parameters: tuple[DonatedParameter, ...]
    """Named parameters, the largest first."""


def donation_of(
    stored: PlannableCompilation, program: PlannedProgram, names: Sequence[str]
) -> Donation:
    """Donate the named parameters; raise NoSuchName if a name is unknown."""
    named = {each.value_id for each in named_parameters(stored, names)}
    already = {value_id for value_id in named if is_donated(stored, value_id)}
    kept = program.by_id.keys()
    gone = named - already - kept
    pairs, unpaired = pair_donations(stored, named - gone)
    left = [pair for pair in pairs if pair.output in kept]
    unpaired += [pair.parameter for pair in pairs if pair.output not in kept]
    donated = donate(program, left, knows_schedule=stored.drops_needless_copies)
    outcomes = [
        *((pair, "in place") for pair in donated.in_place),
        *((pair, "copied first") for pair in donated.copied),
        *((pair, "copied last") for pair in donated.copied_last),
        *((pair, "copied first and last") for pair in donated.copied_twice),
    ]
    found = [_donated(stored, pair, outcome) for pair, outcome in outcomes]
    found += [
        DonatedParameter(
            stored.facts[value_id].label,
            None,
            stored.program.by_id[value_id].size_bytes,
            outcome,
        )
        for outcome, value_ids in (
            ("no output", unpaired),
            ("donated already", already),
            ("gone", gone),
        )
        for value_id in value_ids
    ]
    return Donation(
        donated,
        tuple(sorted(found, key=lambda parameter: (-parameter.size_bytes, parameter.parameter))),
    )


def _donated(stored: PlannableCompilation, pair: Donor, outcome: str) -> DonatedParameter:
    return DonatedParameter(
        stored.facts[pair.parameter].label,
        stored.facts[pair.output].label,
        stored.program.by_id[pair.parameter].size_bytes,
        outcome,
    )


def named_parameters(stored: PlannableCompilation, names: Sequence[str]) -> list[ValueFacts]:
    """Return the named parameters, donated already or not; raise NoSuchName for an unknown name."""
    every = parameters(stored)
    found: dict[int, ValueFacts] = {}
    for name in names:
        if name == "all":
            chosen = every
        elif name.isdecimal():
            chosen = [each for each in every if each.parameter and each.parameter[0] == int(name)]
        else:
            named = set(
                matching(name, {each.value_id: each for each in every}, compilation=stored.key)
            )
            chosen = [each for each in every if each.value_id in named]
        if not chosen:
            numbers = sorted({each.parameter[0] for each in every if each.parameter})
            span = f"{numbers[0]} to {numbers[-1]}" if numbers else "none"
            raise NoSuchName(f"{stored.key} has no parameter {name}; its parameters are {span}")
        found |= {each.value_id: each for each in chosen}
    return list(found.values())

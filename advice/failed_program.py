"""Find the compilation of an out-of-memory message, and the changes that make it fit."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, cast

from xlagraph.advice.advise import advise
from xlagraph.advice.capacity import MOST_FINDINGS, SpaceFit, check_capacity
from xlagraph.advice.diagnosis import Finding
from xlagraph.graph.engine import Cell, Graph, Result
from xlagraph.graph.statement_files import load_statement
from xlagraph.presentation.byte_sizes import human_bytes
from xlagraph.queries.catalogue.query_files import Query
from xlagraph.queries.runner.compilations import select_all
from xlagraph.queries.runner.run import run

_CANDIDATES: Final = load_statement(__file__, "failed-program")
_NAMED_VALUES: Final = load_statement(__file__, "failed-values")
_LINES: Final = "peak/by-line"
_MOST_LINES: Final = 10
_OF_TPU: Final = frozenset({"hbm", "vmem", "smem"})
_NEAR: Final = 0.05
"""Largest relative difference from the size in a message: XLA adds code and reserved memory."""
_NOT_IN_A_NAME: Final = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class MessageClues:
    """Facts in an error message that identify the failed program; empty where absent."""

    module: str | None = None
    """Name of the module: `jit_train_step`."""
    instructions: tuple[str, ...] = ()
    """HLO instructions in the message."""
    op_names: tuple[str, ...] = ()
    requested_bytes: int | None = None
    """Requested bytes. They identify a program by its size only in HBM."""
    memory_space_name: str | None = None
    """`hbm` or `vmem`, in any case; None is memory space 0."""
    capacity_bytes: int | None = None
    allocated_bytes: int | None = None
    """Size of a block that the module's program requested when it ran."""


@dataclass(frozen=True, slots=True)
class FailedProgram:
    """The failed compilation in the graph."""

    compilation: str
    reason: str
    """Why this compilation was chosen, and from how many."""
    mismatch: str | None
    """Why the message must be about another program; None if it can be about this one."""
    fit: SpaceFit | None
    """Its memory space; None if it allocates nothing in the memory space of the message."""
    lines: Result | None
    """Lines with the most bytes at its peak, rows of `peak/by-line`; None if `fit` is None."""
    findings: tuple[Finding, ...]
    """Changes to make first, sorted by savings, descending."""
    problems: tuple[str, ...] = ()
    """Files of queries that failed, each with the reason."""


class _Candidate(NamedTuple):
    key: str
    module_name: str | None
    platform: str | None
    reserved_bytes: int
    temp_bytes: int
    found_values: int

    def distance(self, size_bytes: int | None) -> float:
        """Return the relative difference of its nearest size from a size; infinite without one."""
        if not size_bytes:
            return float("inf")
        nearest = min(abs(own - size_bytes) for own in (self.reserved_bytes, self.temp_bytes))
        return nearest / size_bytes


def diagnose_failed_program(
    graph: Graph,
    clues: MessageClues,
    names: Sequence[str] = (),
    *,
    catalogue: Mapping[str, Query] | None = None,
) -> FailedProgram:
    """Find the compilation that a message is about; check whether it fits, and advise.

    The named runs and compilations are searched, or all without names: by module, by the
    instructions and ops in the message, and by size; otherwise the largest is chosen. Raises
    NoSuchCompilation and EmptyGraph.
    """
    candidates = _candidates(graph, clues, list(select_all(graph, names)))
    found, reason = _find(clues, candidates)
    mismatch = _mismatch(clues, candidates, found)
    spaces = check_capacity(graph, {}, [found])
    fit = next((space for space in spaces if _is_space(space, clues.memory_space_name)), None)
    if fit is None:
        return FailedProgram(found, reason, mismatch, None, None, ())
    if clues.capacity_bytes is not None:
        (fit,) = (
            space
            for space in check_capacity(graph, {fit.memory_space: clues.capacity_bytes}, [found])
            if space.memory_space == fit.memory_space
        )
    diagnosis = advise(graph, found, memory_space=fit.memory_space, catalogue=catalogue)
    lines = run(
        graph, _LINES, compilation=found, memorySpace=fit.memory_space, limit=_MOST_LINES
    ).result
    return FailedProgram(
        found, reason, mismatch, fit, lines, diagnosis.findings[:MOST_FINDINGS], diagnosis.problems
    )


def _find(clues: MessageClues, candidates: Sequence[_Candidate]) -> tuple[str, str]:
    of_how_many = f"of {len(candidates)}"
    if len(candidates) == 1:
        return candidates[0].key, "the only one"
    named = [each for each in candidates if _is_module(each, clues.module)]
    reasons = [f"its module is {clues.module}"] if named else []
    chosen = named or candidates
    most = max(each.found_values for each in chosen)
    if most:
        chosen = [each for each in chosen if each.found_values == most]
        reasons.append("it has the instructions and ops of the message")
    size = clues.requested_bytes if _is_hbm(clues.memory_space_name) else None
    nearest = min(chosen, key=lambda each: (each.distance(size), each.key))
    if len(chosen) > 1 and nearest.distance(size) <= _NEAR:
        return nearest.key, _sentence([*reasons, "its size is nearest"], of_how_many)
    largest = min(chosen, key=lambda each: (-each.reserved_bytes, each.key))
    if not named and not most:
        none = f"the message names none of {len(candidates)} programs; this one reserves most"
        return largest.key, none
    if len(chosen) > 1:
        reasons.append("it reserves most")
    return largest.key, _sentence(reasons, of_how_many)


def _mismatch(clues: MessageClues, candidates: Sequence[_Candidate], found: str) -> str | None:
    """Return why a message cannot be about the compilation that was found; None if it can."""
    if clues.module is not None and not any(_is_module(each, clues.module) for each in candidates):
        return "the message names another module"
    (chosen,) = (each for each in candidates if each.key == found)
    if (clues.memory_space_name or "").casefold() in _OF_TPU and chosen.platform not in (
        "tpu",
        None,
    ):
        return f"the message is about a TPU, the dump is of a {chosen.platform.upper()}"
    # messages round to two decimals; without a module an array may have been allocated
    allocated = (clues.allocated_bytes or 0) * 0.99 if clues.module else 0
    if clues.allocated_bytes is not None and allocated > chosen.reserved_bytes:
        return f"one block of {human_bytes(clues.allocated_bytes)} is more than this one reserves"
    return None


def _candidates(graph: Graph, clues: MessageClues, keys: list[Cell]) -> list[_Candidate]:
    found: dict[Cell, Cell] = {}
    if clues.instructions or clues.op_names:
        parameters: dict[str, Cell] = {
            "compilations": keys,
            "instructions": list(clues.instructions),
            "opNames": list(clues.op_names),
        }
        found = dict(
            cast("Sequence[tuple[Cell, Cell]]", graph.query(_NAMED_VALUES, parameters).rows)
        )
    rows = graph.query(_CANDIDATES, {"compilations": keys}).rows
    return [
        _Candidate(
            *cast("tuple[str, str | None, str | None, int, int, int]", (*row, found.get(row[0], 0)))
        )
        for row in rows
    ]


def _sentence(reasons: Sequence[str], of_how_many: str) -> str:
    return (
        f"{', '.join(reasons)} {of_how_many}"
        if len(reasons) > 1
        else f"{reasons[0]}, {of_how_many}"
    )


def _is_module(candidate: _Candidate, name: str | None) -> bool:
    """Return whether a module has this name; frameworks write `<lambda>` in several ways."""
    if name is None or candidate.module_name is None:
        return False
    own, other = (_NOT_IN_A_NAME.sub("", text) for text in (candidate.module_name, name))
    return own == other


def _is_space(space: SpaceFit, name: str | None) -> bool:
    if _is_hbm(name):
        return space.memory_space == 0
    return (space.memory_space_name or "").casefold() == (name or "").casefold()


def _is_hbm(name: str | None) -> bool:
    return name is None or name.casefold() == "hbm"

"""Compare findings, predictions and sentences with what compilations of the variants reserve."""

import json
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from benchmarks.accuracy.answers import reserved_bytes, rows_of, text_of
from benchmarks.accuracy.compile_program import variant_name
from benchmarks.accuracy.kinds import GENERIC, KINDS, is_meant, is_named
from benchmarks.accuracy.step import Program

LEAST_SHARE = 0.05
"""Share of the reserved bytes below which a planted mistake need not be found."""


class Truth(StrEnum):
    """Result of recompiling the program with the edit that a finding names."""

    CONFIRMED = "within a factor of two"
    OTHER_SIZE = "saves another amount"
    NOTHING = "saves nothing"
    NOT_PLANTED = "a mistake that is not in the program"
    UNKNOWN = "no such edit in the script"


@dataclass(frozen=True, slots=True)
class JudgedFinding:
    """A finding, and what its edit saves."""

    title: str
    kind: str | None
    expected_bytes: int
    doubt: str | None
    real_bytes: int | None
    truth: Truth


@dataclass(slots=True)
class JudgedVariant:
    """Answers about one variant of a program."""

    program: str
    flag: str | None
    """The planted mistake or edit; None for the healthy program."""
    kind: str | None
    reserved_bytes: int
    costs_bytes: int
    """Bytes that the mistake costs: reserved with it, less those of the healthy program."""
    findings: list[JudgedFinding] = field(default_factory=list)
    findings_asked: bool = False
    """True if it was diagnosed correctly: it is healthy, or has a planted mistake."""
    other_fix: str | None = None
    """Flag of another fix that the finding describes."""
    other_fix_bytes: int | None = None
    """Bytes that it saves."""
    predicted_bytes: int | None = None
    prediction: str = ""
    sentence: str = ""
    is_named_by_compare: bool | None = None

    @property
    def saved_bytes(self) -> int:
        """Return what the mended mistake, or the edit, saves."""
        return self.costs_bytes if self.findings_asked else -self.costs_bytes

    @property
    def prediction_error(self) -> float:
        """Return the error of the prediction as a share of the reserved bytes."""
        return abs((self.predicted_bytes or 0) - self.saved_bytes) / self.reserved_bytes

    @property
    def is_worth_finding(self) -> bool:
        """Return whether the mistake costs a share that a finding must have."""
        return self.costs_bytes >= LEAST_SHARE * self.reserved_bytes

    @property
    def rank(self) -> int | None:
        """Rank of the first finding that names the planted mistake; from 1."""
        named = (i for i, each in enumerate(self.findings, 1) if each.kind == self.kind)
        return next(named, None) if self.kind else None


class JudgedProgram:
    """A program with its graph, its facts and judged variants."""

    def __init__(self, dumps: Path, graph: Path) -> None:
        self.name, self.graph = dumps.name, graph
        facts = json.loads((dumps / "variants.json").read_text("utf-8"))
        self.program = Program(**facts["program"])
        self._donated = facts["donated"]
        if self._donated and not graph.exists():
            text_of(graph, "ingest", str(dumps))
        self._reserved = reserved_bytes(graph) if self._donated else {}

    def variants(self) -> list[JudgedVariant]:
        """Return the healthy program and one with each flag, judged; none if it has no dumps."""
        if variant_name(()) not in self._donated:  # it needs hardware that is not there
            return []
        return [self._judged(None), *map(self._judged, self.program.kinds)]

    def _judged(self, flag: str | None) -> JudgedVariant:
        flags = frozenset((flag,) if flag else ())
        name = variant_name(flags)
        reserved, healthy = self._reserved[name], self._reserved["healthy"]
        kind = self.program.kinds[flag] if flag else None
        judged = JudgedVariant(self.name, flag, kind, reserved, reserved - healthy)
        if flag is None or flag in self.program.mistakes:
            judged.findings_asked = True
            judged.findings = [
                self._judge_finding(row, flag) for row in rows_of(self.graph, "advise", name)
            ]
        if flag is not None and flag in self.program.fixes:
            judged.other_fix = self.program.fixes[flag]
            judged.other_fix_bytes = reserved - self._reserved[variant_name({judged.other_fix})]
        if flag is not None:
            self._predict(judged, flag)
        if flag in self.program.mistakes and kind is not None:
            judged.sentence = self.first_sentence("healthy", name)
            judged.is_named_by_compare = is_named(kind, judged.sentence)
        return judged

    def first_sentence(self, before: str, after: str) -> str:
        """Return the first sentence of a comparison."""
        lines = text_of(self.graph, "compare", before, after).splitlines()
        found = next((line[2:] for line in lines if line.startswith("- ")), "".join(lines[:1]))
        return found.replace(f"in {after}", "in B")  # a name of a variant is no cause

    def _judge_finding(self, row: dict[str, object], flag: str | None) -> JudgedFinding:
        title, expected = str(row["finding"]), int(str(row["expectedBytes"] or 0))
        doubt = None if row["doubt"] is None else str(row["doubt"])
        kinds = self.program.kinds
        meant = [each for each in kinds if is_meant(kinds[each], title)]
        chosen = flag if flag in meant else next(iter(meant), None)
        if chosen is None:
            kind = next((each for each in KINDS if is_meant(each, title)), None)
        else:
            kind = kinds[chosen]
        if chosen is None or (chosen != flag and chosen in self.program.mistakes):
            is_wrong = kind is not None and kind not in GENERIC
            truth = Truth.NOT_PLANTED if is_wrong else Truth.UNKNOWN
            return JudgedFinding(title, kind, expected, doubt, None, truth)
        variant = variant_name({flag} if flag else ())
        name = variant_name({each for each in {chosen} ^ {flag} if each})
        if name not in self._reserved:
            return JudgedFinding(title, kind, expected, doubt, None, Truth.UNKNOWN)
        real = self._reserved[variant] - self._reserved[name]
        if expected / 2 <= real <= expected * 2:
            truth = Truth.CONFIRMED
        else:
            truth = Truth.NOTHING if real <= 0 else Truth.OTHER_SIZE
        return JudgedFinding(title, kind, expected, doubt, real, truth)

    def _predict(self, judged: JudgedVariant, flag: str) -> None:
        options = self.program.predictions.get(flag, ())
        is_mistake = flag in self.program.mistakes
        if judged.kind == "donation":
            donated = self._donated["healthy"]
            options = tuple(word for number in donated for word in ("--donate", str(number)))
        if not options:
            return
        variant = variant_name({flag}) if is_mistake else "healthy"
        shown = (
            "--donate, as the healthy program" if judged.kind == "donation" else " ".join(options)
        )
        judged.prediction = f"whatif {variant} {shown}"
        try:
            plan = rows_of(self.graph, "whatif", variant, *options)[0]
        except RuntimeError as error:
            judged.prediction += f": {error}"[:300]
        else:
            judged.predicted_bytes = int(plan["reservedBytes"]) - int(plan["reservedBytesAfter"])

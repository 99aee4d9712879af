"""Compare two runs or two compilations: how much grew, where and why."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

from xlagraph.comparison.compared_sides import (
    ComparedCompilation,
    ComparedPair,
    Comparison,
    Signature,
    Totals,
)
from xlagraph.comparison.explaining import explain_pair
from xlagraph.comparison.groups import By, group_growths
from xlagraph.comparison.held_values import read_reserved
from xlagraph.comparison.pairing import Pairing, pair_compilations
from xlagraph.comparison.proved_causes import join_moved, name_causes
from xlagraph.comparison.reasons import Reason, ReasonKind, Subject
from xlagraph.comparison.returned_gradients import name_returned_gradients
from xlagraph.comparison.sentences import Sentence, sentences_of
from xlagraph.comparison.waiting_gradients import join_waiting
from xlagraph.graph.engine import Graph
from xlagraph.graph.statement_files import load_statement
from xlagraph.queries.runner.compilations import Selection, is_at_peak, select

_COMPILATIONS: Final = load_statement(__file__, "compilations")
_SIGNATURES: Final = load_statement(__file__, "signatures")

DEFAULT_GROUPS: Final = (By.CAUSE, By.TEMPORARY, By.ROLE, By.OP, By.LINE)
"""Groupings that a comparison shows by default."""

_MOST_READ: Final = 50
"""Maximum number of pairs whose values are read to find reasons; the largest changes first."""
_LEAST_SHARE: Final = 0.1
"""Minimum growth of a pair whose calls are named, as a share of the largest one's."""


def compare(
    graph: Graph,
    a: str,
    b: str,
    *,
    by: Iterable[By] = DEFAULT_GROUPS,
    depth: int = 3,
    explain: bool = True,
) -> Comparison:
    """Compare two sides, each a run or a compilation, resolved with `select`.

    Two compilations always form a pair, even if their modules differ, and so do two runs with one
    each. The compilations of other runs are paired by `pair_compilations`. ``explain`` adds
    sentences that give the reasons. It reads the values of the changed pairs; there are no
    sentences if these values are not stored.
    """
    side_a, side_b = select(graph, a), select(graph, b)
    a_by_key, b_by_key = (_compilations(graph, side) for side in (side_a, side_b))
    pairing = _pair(graph, a_by_key, b_by_key)
    pairs = [ComparedPair(a_by_key[key_a], b_by_key[key_b]) for key_a, key_b in pairing.pairs]
    # sorted is stable: equal growths stay in the order of their keys
    pairs = sorted(pairs, key=lambda pair: -abs(pair.reserved.growth_bytes))
    unpaired = (
        *(ComparedPair(a_by_key[key], None) for key in pairing.only_a),
        *(ComparedPair(None, b_by_key[key]) for key in pairing.only_b),
    )
    totals = _sum(a_by_key.values()), _sum(b_by_key.values())
    sentences: tuple[Sentence, ...] = ()
    if explain and not is_at_peak(graph, (side_a.name, side_b.name)):
        sentences = sentences_of(
            _reasons(graph, pairs, unpaired),
            (side_a.name, side_b.name),
            (totals[0].reserved_bytes or 0, totals[1].reserved_bytes or 0),
        )
    return Comparison(
        side_a,
        side_b,
        *totals,
        tuple(pairs),
        unpaired,
        group_growths(graph, by, side_a.name, side_b.name, depth=depth),
        sentences,
    )


def _reasons(
    graph: Graph, pairs: Sequence[ComparedPair], unpaired: Sequence[ComparedPair]
) -> list[Reason]:
    changed = [pair for pair in pairs if pair.a and pair.b and pair.a.totals != pair.b.totals]
    if not changed:  # the largest may have other inputs or lines, and as many bytes
        changed = sorted(pairs, key=lambda pair: -(pair.reserved.bytes_b or 0))[:1]
    growths = [abs(pair.reserved.growth_bytes) for pair in changed]
    reasons: list[Reason] = []
    for pair, growth in zip(changed[:_MOST_READ], growths, strict=False):
        key_a, key_b = (side.key if side else "" for side in (pair.a, pair.b))
        reserved = read_reserved(graph, (key_a, key_b))
        explained = explain_pair(reserved[key_a], reserved[key_b])
        if pair is changed[0]:
            explained = join_waiting(graph, explained, (key_a, key_b))
            name_causes(graph, explained, (key_a, key_b))
            name_returned_gradients(graph, explained, (key_a, key_b))
        # of a program that hardly grows, what has no bytes may follow from other calls of it
        is_small = pair is not changed[0] and growth < _LEAST_SHARE * growths[0]
        for reason in join_moved(explained):
            if is_small and not (reason.growth_bytes or reason.placed_bytes):
                continue
            reason.compilations = (key_a, key_b)
            reasons.append(reason)
    for kind, others in ((ReasonKind.UNPAIRED, unpaired), (ReasonKind.OTHER, changed[_MOST_READ:])):
        if others:
            reasons.append(
                Reason(
                    Subject(kind),
                    sum(pair.reserved.growth_bytes for pair in others),
                    sum(pair.a is not None for pair in others),
                    sum(pair.b is not None for pair in others),
                    {pair.a.module or "" for pair in others if pair.a},
                    {pair.b.module or "" for pair in others if pair.b},
                )
            )
    return _merged(reasons)


def _merged(reasons: Iterable[Reason]) -> list[Reason]:
    """Return one reason for each subject, with its growths added up."""
    merged: dict[Subject, Reason] = {}
    for reason in reasons:
        if known := merged.get(reason.subject):
            known.merge(reason)
        else:
            merged[reason.subject] = reason
    return list(merged.values())


def _compilations(graph: Graph, side: Selection) -> dict[str, ComparedCompilation]:
    if not side.compilations:  # one engine cannot unwind an empty list
        return {}
    rows = graph.query(_COMPILATIONS, {"compilations": list(side.compilations)}).rows
    compilations = {}
    for key, module, module_number, *totals in rows:
        compilations[str(key)] = ComparedCompilation(
            str(key),
            cast("str | None", module),
            cast("int | None", module_number),
            Totals(*cast("Sequence[int | None]", totals)),
        )
    return compilations


def _sum(compilations: Iterable[ComparedCompilation]) -> Totals:
    totals = [compilation.totals for compilation in compilations]
    return Totals(
        *(_known_sum(each[index] for each in totals) for index in range(len(Totals._fields)))
    )


def _known_sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _pair(
    graph: Graph,
    a: Mapping[str, ComparedCompilation],
    b: Mapping[str, ComparedCompilation],
) -> Pairing:
    if len(a) == len(b) == 1:  # two compilations, or two runs with one each
        return Pairing(tuple(zip(a, b, strict=True)), (), ())
    signatures = _signatures(graph, [*a, *b])
    return pair_compilations(
        *(
            [each._replace(signature=signatures.get(key, ())) for key, each in side.items()]
            for side in (a, b)
        )
    )


def _signatures(graph: Graph, keys: Sequence[str]) -> dict[str, Signature]:
    shapes: defaultdict[str, list[tuple[int | str, ...]]] = defaultdict(list)
    parameters = {"compilations": list(dict.fromkeys(keys))}
    rows = graph.query(_SIGNATURES, parameters).rows if keys else ()
    for key, number, shape_index, shape, is_output in rows:
        if number is not None:
            shapes[str(key)].append((cast("int", number), str(shape_index or ""), str(shape or "")))
        if is_output:  # a donated result has the shape of its parameter
            shapes[str(key)].append(("result", str(shape or "")))
    return {key: tuple(sorted(signature, key=str)) for key, signature in shapes.items()}

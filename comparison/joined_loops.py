"""Name loops that run another number of times, and join what follows from them."""

from fractions import Fraction

from xlagraph.comparison.edits_of_programs import LEAST_OF_CODE
from xlagraph.comparison.joined_reasons import Sides
from xlagraph.comparison.loop_turns import MAPPED, ChangedLoop, LoopTurns
from xlagraph.comparison.reasons import FoundReasons, ReasonKind, Subject
from xlagraph.comparison.size_changes import runs_for_parts
from xlagraph.hlo.op_names import has_checkpoint


def name_turns(sides: Sides, loops: LoopTurns, reasons: FoundReasons) -> None:
    """Name the loops that run another number of times, with values that are as much larger."""
    sizes = reasons.found.get(Subject(ReasonKind.SIZE))
    known = sizes.turns if sizes else set()
    of_sizes = {loop.turns for loop in loops.others}
    if sizes and not known and len(of_sizes) == 1:
        ((before, after),) = of_sizes
        factor = Fraction(after or 1, before or 1)
        if runs_for_parts((before, after), sizes.dimensions):  # they say more
            known = of_sizes
        # a buffer may contain the start, too: one part more than iterations
        elif sizes.factors in ({factor}, {1 / factor}, {Fraction(after + 1, before + 1)}):
            sizes.turns = known = of_sizes
    others = [loop for loop in loops.others if loop.turns not in known]
    for word, side in (("gone", 1), ("new", 0)):  # one loop, whose values the other has in none
        outside, inside = (  # values in one loop, or in one loop more
            reasons.found.get(Subject(ReasonKind.LOOPED, before, word)) for before in ("", "loop")
        )
        of_loops = [each for each in (outside, inside) if each is not None]
        of_one = [loop for loop in others if not loop.turns[side]]
        counts = [max(each.count_a, each.count_b) for each in of_loops]
        if max(counts, default=0) < LEAST_OF_CODE:
            continue
        of_loop = max(of_loops, key=lambda reason: max(reason.count_a, reason.count_b))
        if len(of_one) > 1:  # that around values with so few of the elements
            turns = {loop: Fraction(loop.turns[0] or 1, loop.turns[1] or 1) for loop in of_one}
            of_one = [loop for loop in of_one if {turns[loop]} == of_loop.factors]
        if len(of_one) != 1:
            continue
        if outside and inside and outside.growth_bytes * inside.growth_bytes > 0:
            of_loop = inside
            of_loop.merge(reasons.found.pop(outside.subject))
        checkpoint = _checkpoint_in(of_one[0], sides, reasons)
        of_loop.turns, of_loop.labels = {of_one[0].turns}, {f"{of_one[0].place}{checkpoint}"}
        others.remove(of_one[0])
    if others:
        reason = reasons.of(ReasonKind.TURNS)
        reason.turns = {loop.turns for loop in others}
        reason.scopes = {loop.place for loop in others}


def _checkpoint_in(loop: ChangedLoop, sides: Sides, reasons: FoundReasons) -> str:
    """Return that a loop which one program has contains the only checkpoint; empty otherwise."""
    is_new = bool(loop.turns[1])
    with_loop, other = (sides.b, sides.a)[:: 1 if is_new else -1]
    kind = ReasonKind.CHECKPOINTED if is_new else ReasonKind.UNCHECKPOINTED
    is_said = Subject(kind) in reasons.found or other.mentions.is_recomputing
    if is_said or any(has_checkpoint(value.op_name) for value in other.values):
        return ""
    inside = (
        has_checkpoint(value.op_name) and (value.source_line or value.line) in loop.lines
        for value in with_loop.values
    )
    return ", with a checkpoint" if any(inside) else ""


def limit_checkpoints(turns: LoopTurns, reasons: FoundReasons) -> None:
    """Give a checkpoint no values that grow although it is added, or the reverse.

    Beside another change of the program, that one makes them.
    """
    sizes = reasons.found.get(Subject(ReasonKind.SIZE))
    is_other = bool(turns.unrolled or turns.others) or sizes is not None
    for kind, is_new in ((ReasonKind.CHECKPOINTED, True), (ReasonKind.UNCHECKPOINTED, False)):
        reason = reasons.found.get(Subject(kind))
        if is_other and reason and reason.growth_bytes and (reason.growth_bytes > 0) is is_new:
            del reasons.found[reason.subject]
            if sizes is not None and sizes.input_example is not None:
                sizes.scopes.add("checkpoint")
                sizes.absorb(reason)
            else:
                reasons.of(ReasonKind.REPLACED).merge(reason)


def join_unrolled(sides: Sides, turns: LoopTurns, reasons: FoundReasons) -> None:
    """Join a checkpoint that is gone or added with the unrolled loop that contains it.

    How many bytes each of them changes depends on which is first: without the loop, a checkpoint
    may change nothing. If a loop replaces `jax.vmap`, values are in one loop more, too.
    """
    unrolled = [each for each in reasons.found.values() if each.subject.kind is ReasonKind.UNROLLED]
    lines = {line for loop in turns.unrolled for line in loop.lines}
    for kind, side, word in (
        (ReasonKind.UNCHECKPOINTED, sides.a, "gone"),
        (ReasonKind.CHECKPOINTED, sides.b, "added"),
    ):
        checkpointed = [value for value in side.values if has_checkpoint(value.op_name)]
        inside = [value for value in checkpointed if (value.source_line or value.line) in lines]
        if unrolled and Subject(kind) in reasons.found and 2 * len(inside) > len(checkpointed):
            loop = max(unrolled, key=lambda each: abs(each.growth_bytes))
            loop.inputs.add(word)
            loop.absorb(reasons.found.pop(Subject(kind)))
    for loop in unrolled:
        for word, mapped in (("new", loop.subject.before), ("gone", loop.subject.after)):
            if mapped == MAPPED:
                for before in ("", "loop"):
                    if of_loop := reasons.found.pop(Subject(ReasonKind.LOOPED, before, word), None):
                        loop.absorb(of_loop)
                # what the only loop makes, if the other program has none
                kind = ReasonKind.SCOPE_NEW if word == "new" else ReasonKind.SCOPE_GONE
                is_only = len(unrolled) == 1 and not turns.others
                if is_only and (scope := reasons.found.pop(Subject(kind, after="while"), None)):
                    loop.absorb(scope)

"""Edits that donate parameters, paired with results the way the frameworks do.

JAX (`_set_up_aliases`, jax/_src/interpreters/mlir.py) takes the results in order and pairs each
with the first remaining donated parameter of the same shape, layout and type. TensorFlow and
PyTorch/XLA name the pairs themselves; if the state is returned in the order in which it is passed,
the pairs are the same.

The queries use other rules: alias/not-donated counts every output of the shape, with any layout,
because nothing is paired there yet; alias/donated counts those of equal bytes and type, as XLA does
once the framework has named an input.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from xlagraph.hlo.op_names import argument_name
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.donation import donate, with_results_apart
from xlagraph.planner.edits.chosen_again import chosen_with_donations, reordering_of_choice
from xlagraph.planner.edits.edit import DonatedParameter, Edit, Edited, Replanned
from xlagraph.planner.edits.effect_sentences import saved_range_text
from xlagraph.planner.edits.patterns import matching
from xlagraph.planner.edits.resizing import ids_of
from xlagraph.planner.needed_copies import Donor
from xlagraph.planner.orders.ordered_program import Reordering
from xlagraph.planner.planned_program import PlannedProgram
from xlagraph.presentation.byte_sizes import counted
from xlagraph.queries.errors import NoSuchName


@dataclass(frozen=True, slots=True)
class Donate(Edit):
    """Donate parameters."""

    names: tuple[str, ...]
    parameters: frozenset[int]
    """Value ids of the named parameters."""
    reordering: Reordering | None = field(default=None, repr=False, compare=False)
    """The orders of a GPU's program, of which XLA chooses one again; None if it is not known."""

    @classmethod
    def matching(cls, compilation: PlannableCompilation, names: Iterable[str]) -> "Donate":
        """Donate parameters by number, label, op name, or `all`; raises NoSuchName."""
        given = tuple(names)
        named = named_parameters(compilation, given)
        return cls(given, frozenset(each.value_id for each in named))

    @classmethod
    def of(cls, compilation: PlannableCompilation, labels: Iterable[str]) -> "Donate":
        """Donate the parameters with these labels."""
        names = tuple(labels)
        arrays = {each.value_id for each in compilation.array_parameters}
        return cls(names, frozenset(ids_of(compilation, names) & arrays))

    def __or__(self, other: "Donate") -> "Donate":
        """Return the edit that donates the parameters of both."""
        names = tuple(dict.fromkeys((*self.names, *other.names)))
        reordering = self.reordering or other.reordering
        return Donate(names, self.parameters | other.parameters, reordering)

    def in_chosen_order(
        self, stored: StoredCompilation, compilation: PlannableCompilation
    ) -> "Donate":
        """Return the edit that also makes the order that XLA chooses then, if it is known."""
        return replace(self, reordering=reordering_of_choice(stored, compilation))

    @property
    def arguments(self) -> tuple[str, ...]:
        return tuple(word for name in self.names for word in ("--donate", name))

    @property
    def matched(self) -> frozenset[int]:
        return self.parameters

    def apply(self, compilation: PlannableCompilation, program: PlannedProgram) -> Edited:
        if (ordered := self._ordered(compilation, program)) is not None:
            as_ordered = replace(self, reordering=None).apply(ordered, ordered.program)
            return replace(as_ordered, compilation=ordered)
        kept = program.by_id.keys()
        already = {each for each in self.parameters if compilation.is_donated(each)}
        gone = self.parameters - already - kept
        pairs, unpaired = _pairs(compilation, self.parameters - already - gone)
        if (again := _paired_again(compilation, program, pairs)) is not None:
            program, pairs = again
        left = [pair for pair in pairs if _still_fits(compilation, program, pair)]
        unpaired += [pair.parameter for pair in set(pairs).difference(left)]
        knows_schedule = compilation.drops_needless_copies
        if not knows_schedule:
            program = _with_sorts_apart(compilation, program)
        like_sources = _like_sources(compilation, program)
        planned = partial(
            donate, program, left, like_sources=like_sources, knows_schedule=knows_schedule
        )
        donated = planned()
        outcomes = [
            *((pair.parameter, pair.output, "in place") for pair in donated.in_place),
            *((pair.parameter, pair.output, "copied first") for pair in donated.copied),
            *((pair.parameter, pair.output, "copied last") for pair in donated.copied_last),
            *(
                (pair.parameter, pair.output, "copied first and last")
                for pair in donated.copied_twice
            ),
            *((parameter, None, "no output") for parameter in unpaired),
            *((parameter, None, "donated already") for parameter in already),
            *((parameter, None, "gone") for parameter in gone),
        ]
        values = compilation.values
        found = [
            DonatedParameter(
                values[parameter].label,
                None if output is None else values[output].label,
                compilation.program.by_id[parameter].size_bytes,
                outcome,
            )
            for parameter, output, outcome in outcomes
            if parameter in self.parameters and (output is None or parameter not in already)
        ]
        most = None
        if knows_schedule and (donated.copied_last or donated.copied_twice):
            most = planned(copies_last=True).program
        return Edited(
            donated.program if left else program,
            most,
            value_ids=self.parameters,
            donated=tuple(sorted(found, key=lambda each: (-each.size_bytes, each.parameter))),
            copied_before=donated.copied_before,
        )

    def _ordered(
        self, compilation: PlannableCompilation, program: PlannedProgram
    ) -> PlannableCompilation | None:
        """Return the compilation in the order that XLA chooses; None for the present order."""
        found = self.reordering
        if found is None or program.values != found.planned.values:
            return None
        pairs, _ = _pairs(
            compilation, {each for each in self.parameters if not compilation.is_donated(each)}
        )
        if _paired_again(compilation, program, pairs) is not None:
            return None
        outputs = {pair.output: pair.parameter for pair in pairs}
        return chosen_with_donations(found, compilation, outputs)

    def sentence(self, after: Replanned, before: Replanned) -> str:
        donated = after.edited.donated if after.edited is not None else ()
        saving = "nothing changes"
        if effective := [each for each in donated if each.output is not None]:
            saving = saved_range_text(after, before, _why_nothing_is_saved(effective))
        text = f"{counted(len(donated), 'parameter')}: {outcomes_text(donated)}; {saving}"
        without_result = [each.parameter for each in donated if each.outcome == "no output"]
        if without_result:
            text += f"; no free result has the shape, layout and type of {without_result[0]}"
            if len(without_result) > 1:
                text += f" or of {len(without_result) - 1} more"
        return text


def outcomes_text(donated: Sequence[DonatedParameter]) -> str:
    """Return the outcomes with their counts: `2 in place, 1 no output`."""
    counts = Counter(each.outcome for each in donated)
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.items())


def _why_nothing_is_saved(effective: Iterable[DonatedParameter]) -> str:
    if all(each.outcome != "in place" for each in effective):
        return "the compiler keeps a copy of each"
    return "temporaries used the bytes of the results and now need other bytes"


def _pairs(
    compilation: PlannableCompilation,
    parameter_ids: Collection[int],
    *,
    results: Iterable[int] | None = None,
) -> tuple[list[Donor], list[int]]:
    """Pair parameters with results; also return the unpaired parameters.

    Unless results are given, skipped are those that already take a parameter's bytes, and those
    that are a parameter or a constant.
    """
    left: defaultdict[str, deque[StoredValue]] = defaultdict(deque)
    for value in compilation.array_parameters:
        if value.value_id in parameter_ids:
            left[value.full_shape].append(value)
    pairs: list[Donor] = []
    for output in _free_results(compilation) if results is None else results:
        shape = compilation.result_shapes.get(output) or compilation.values[output].full_shape
        if waiting := left[shape]:
            value = waiting.popleft()
            pairs.append(Donor(value.value_id, output, value.needed_until or 0))
    return pairs, [value.value_id for waiting in left.values() for value in waiting]


def _with_sorts_apart(compilation: PlannableCompilation, program: PlannedProgram) -> PlannedProgram:
    """Return the program in which no sort is written over a parameter.

    Only the sort may read it, and the copy that XLA adds for the donation reads it too.
    """
    values = compilation.values
    given = {each.value_id for each in compilation.array_parameters}
    apart = {
        value_id: tuple(each for each in found if each.value_id not in given)
        for value_id, found in program.overwrites.items()
        if value_id in values and values[value_id].opcode == "sort"
    }
    return replace(program, overwrites={**program.overwrites, **apart}) if apart else program


def _like_sources(compilation: PlannableCompilation, program: PlannedProgram) -> frozenset[int]:
    """Return the copies of a parameter that have its shape and layout."""
    values, by_id = compilation.values, program.by_id
    shapes = {each.value_id: each.full_shape for each in compilation.array_parameters}
    return frozenset(
        each
        for each, made in by_id.items()
        if made.is_copy
        and len(made.operands) == 1
        and made.operands[0] in shapes
        and each in values
        and values[each].full_shape == shapes[made.operands[0]]
    )


def _still_fits(compilation: PlannableCompilation, program: PlannedProgram, pair: Donor) -> bool:
    """Return True if no other change removes the result, or resizes only one of both."""
    now, before = program.by_id, compilation.program.by_id
    if pair.output not in now:
        return False
    sizes = [
        (each[pair.parameter].size_bytes, each[pair.output].size_bytes) for each in (now, before)
    ]
    return sizes[0][0] * sizes[1][1] == sizes[0][1] * sizes[1][0]


def _paired_again(
    compilation: PlannableCompilation, program: PlannedProgram, added: Sequence[Donor]
) -> tuple[PlannedProgram, list[Donor]] | None:
    """Return the program without its donations, and all pairs, if more donations change pairs.

    A state that is donated without the parameters gives its bytes to their new values, which come
    first among the results. None if the pairs that the program has stay the same.
    """
    by_id = program.by_id
    given = {
        value.value_id
        for value in compilation.array_parameters
        if compilation.is_donated(value.value_id) and value.value_id in by_id
    }
    if not added or not given or compilation.program.values != program.values:
        return None
    chosen = given | {pair.parameter for pair in added}
    pairs, unpaired = _pairs(compilation, chosen, results=_results(compilation))
    kept = [pair for pair in pairs if pair.parameter in given]
    is_same = all(
        by_id[pair.parameter].buffer_set == by_id[pair.output].buffer_set for pair in kept
    )
    if is_same or unpaired or len(kept) < len(given):
        return None
    apart, last = with_results_apart(program, given)
    return apart, [
        pair._replace(needed_until=max(pair.needed_until, last.get(pair.parameter, 0)))
        for pair in pairs
    ]


def _results(compilation: PlannableCompilation) -> Iterable[int]:
    """Yield the arrays of the result that no input or constant is."""
    program = compilation.program
    for output in dict.fromkeys(compilation.results):
        value = program.by_id.get(output)
        if value is not None and not value.is_table and not value.is_stored:
            yield output


def _free_results(compilation: PlannableCompilation) -> Iterable[int]:
    program = compilation.program
    taken: set[int] = set()
    for output in compilation.results:
        value = program.by_id.get(output)
        if value is None or value.is_table or value.buffer_set in taken:
            continue
        taken.add(value.buffer_set)
        if not any(member.is_stored for member in program.sets[value.buffer_set]):
            yield output


def whole_arguments(
    compilation: PlannableCompilation,
) -> list[tuple[tuple[str, ...], frozenset[int]]]:
    """Return the patterns and the parameters of each argument, as `donate_argnums` takes them.

    A parameter without the name of one is an argument by itself.
    """
    leaves: defaultdict[str, list[StoredValue]] = defaultdict(list)
    for value in compilation.array_parameters:
        leaves[argument_name(value.op_name)].append(value)
    found = []
    for name, values in leaves.items():
        ends = {(value.op_name or "")[len(name) : len(name) + 1] for value in values}
        patterns = tuple(f"{name}[*]*" if end == "[" else f"{name}.*" for end in sorted(ends))
        if name and ends <= {"[", "."}:
            found.append((patterns, frozenset(value.value_id for value in values)))
            continue
        for value in values:
            is_named = len(values) == 1 and value.op_name
            pattern = value.op_name if is_named and value.op_name else value.label
            found.append(((pattern,), frozenset({value.value_id})))
    return found


def name_of(compilation: PlannableCompilation, value: StoredValue) -> str:
    """Return the argument's name of a parameter, if it is known, and the label of other values."""
    name = value.op_name if value.value_id in compilation.parameters else None
    return name or value.label


def named_parameters(compilation: PlannableCompilation, names: Iterable[str]) -> list[StoredValue]:
    """Return the named parameters, donated already or not; raise NoSuchName for an unknown name."""
    every = compilation.array_parameters
    numbers = {each.value_id: compilation.parameters[each.value_id][0] for each in every}
    found: dict[int, StoredValue] = {}
    for name in names:
        if name == "all":
            chosen = set(numbers)
        elif name.isdecimal():
            chosen = {each for each, number in numbers.items() if number == int(name)}
        else:
            chosen = set(matching(name, compilation, every))
        if not chosen:
            span = f"{min(numbers.values())} to {max(numbers.values())}" if numbers else "none"
            raise NoSuchName(
                f"{compilation.key} has no parameter {name}; its parameters are {span}"
            )
        found |= {each.value_id: each for each in every if each.value_id in chosen}
    return list(found.values())

"""Find the inputs that only one of two programs donates."""

from collections import Counter
from collections.abc import Sequence

from xlagraph.comparison.held_values import HeldValue, Reserved
from xlagraph.comparison.value_matching import Matching


def donated_by_one(matching: Matching, *, before: bool) -> list[tuple[HeldValue, HeldValue]]:
    """Return the inputs that are donated on one side only, the one before or after the change.

    The first of a pair is donated, and an output of the other side has the size of the second one.

    Without names, an input may be any other one of its shape: then both sides must donate
    different numbers of these.
    """
    pairs = matching.pairs if before else [(b, a) for a, b in matching.pairs]
    kept, kept_by_other = (
        Counter(value.shape for value in side if value.is_input and not value.is_donated)
        for side in (
            [*(x for x, _ in pairs), *(matching.only_a if before else matching.only_b)],
            [*(y for _, y in pairs), *(matching.only_b if before else matching.only_a)],
        )
    )
    return [
        (x, y)
        for x, y in pairs
        if x.is_donated
        and not y.is_donated
        and (x.op_name or kept[x.shape] != kept_by_other[x.shape])
    ]


def results_in_inputs(donating: Reserved, other: Reserved, inputs: Sequence[HeldValue]) -> int:
    """Return the number of inputs if one side has a result more for each, which has its size.

    That side uses their bytes then, and they may be donated on the other one, too.
    """
    more, sizes = (
        Counter(each.size_bytes for each in side.values if each.is_output)
        for side in (donating, other)
    )
    of_inputs = Counter(value.size_bytes for value in inputs)
    return len(inputs) if of_inputs <= more - sizes else 0

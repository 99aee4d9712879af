"""Name functions that make instructions of one program, and that the other does not call.

    step → diffeqsolve → Dopri8.step → prod    of one program
    step → diffeqsolve → Euler.step            of the other one

Of each call stack, the first function that the other program has nowhere counts: what it calls
follows from it. Functions that both programs call from the same one replace each other.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Set
from typing import Final, TypeVar

from xlagraph.comparison.argument_names import folded, pattern
from xlagraph.comparison.held_values import Reserved, place
from xlagraph.comparison.mentions import CallStack, Function
from xlagraph.comparison.more_layers import LAYERS, more_layers_text, name_more_layers
from xlagraph.comparison.reasons import FoundReasons, Reason, ReasonKind
from xlagraph.hlo.metadata import StackFrame, from_packages, is_installed
from xlagraph.hlo.op_names import NAMES_OF_INPUTS, OF_PYTORCH, scope_names
from xlagraph.presentation.byte_sizes import counted

LOCALS: Final = ".<locals>."
OF: Final = " of "
_LEAST_SHARE: Final = 0.25
"""Number of instructions of a function that is named, divided by that of the first one."""
MOVING: Final = frozenset(
    (
        "add_any", "broadcast_in_dim", "concatenate", "convert_element_type", "copy", "copy_p",
        "dynamic_slice", "dynamic_update_slice", "gather", "iota", "neg", "pad",
        "reduce_precision", "reshape", "rev", "select_n", "slice", "squeeze", "transpose",
        "expand", "permute", "view",
    )
)  # fmt: skip
"""Ops that compute nothing, which other shapes or another order may need; PyTorch's come last."""
_Named = TypeVar("_Named", str, Function)
_LEAST_OPS: Final = 5
"""Minimum number of instructions of functions that replace no others."""
_LEAST_COMMON: Final = 0.5
"""Minimum share of the functions of one program that the other one has, too."""


_Chain = tuple[Function, ...]
"""New functions of one package that call each other, outermost first."""
_OF_BOTH: Final = Function("", "", True)
"""Stands for a function that both programs have, at the end of a chain."""
_Chains = dict[str, Counter[_Chain]]
"""Numbers of instructions by function, for each caller that both programs have; ``""`` for none."""


def name_called(sides: tuple[Reserved, Reserved], reasons: FoundReasons) -> None:
    """Name functions that only one program calls, and ops that only one has, without bytes."""
    _name_functions(sides, reasons)
    _name_ops(sides, reasons)
    name_more_layers(sides, reasons)


def _name_functions(sides: tuple[Reserved, Reserved], reasons: FoundReasons) -> None:
    """Name the functions of installed packages that only one program calls.

    The names of other functions change with each edit of a file.
    """
    stacks = tuple(side.mentions.call_stacks for side in sides)
    known = tuple({function for stack in each for function in stack} for each in stacks)
    common = len(known[0] & known[1])
    if common < _LEAST_COMMON * min(map(len, known)) or not common:
        return
    gone, new = (_only(stacks[side], known[1 - side]) for side in (0, 1))
    counts = {
        caller: gone.get(caller, Counter()).total() + new.get(caller, Counter()).total()
        for caller in {**gone, **new}
    }
    caller = max(counts, key=lambda each: (counts[each], each), default=None)
    if caller is None:
        return
    is_replaced = caller in gone and caller in new
    before, after = (
        _counts(each.get(caller, Counter()), with_wrappers=is_replaced) for each in (gone, new)
    )
    if counts[caller] < _LEAST_OPS and not is_replaced:  # XLA may have folded them
        return
    reason = reasons.of(ReasonKind.CALLED)
    reason.count_a, reason.count_b = before.total(), after.total()
    # of one name, such as `build_kernel`, in two files
    gone_names, new_names = ({each.name for each in counts} for counts in (before, after))
    gone_often, new_often = map(_often, (before, after))
    reason.scopes, reason.inputs = (
        _names(functions, gone_names & new_names) for functions in (gone_often, new_often)
    )
    reason.labels = _lines(sides[1], new_often) if new_often else _lines(sides[0], gone_often)


def _lines(side: Reserved, functions: Set[Function]) -> set[str]:
    """Return the program's own line that calls most of the ops of functions; empty if none does."""
    called = {(each.file, each.name) for each in functions}
    found: Counter[str] = Counter()
    for site in side.mentions.call_sites.known:
        own: StackFrame | None = None
        for frame in site.frames:
            file = frame.file or ""
            if not is_installed(file):
                own = frame
            elif own and (from_packages(file), outermost(frame.function or "")) in called:
                found[place((own.file or "", own.line or 0))] += 1
                break
    return {line for line, count in found.items() if 2 * count > found.total()}


def _only(stacks: Mapping[CallStack, int], others: Set[Function]) -> _Chains:
    """Return the functions that another program has not, by what calls them."""
    outer = {(each.file, outermost(each.name)) for each in others}
    classes = {(file, name.rpartition(".")[0]) for file, name in outer if "." in name}
    chains: defaultdict[str, Counter[_Chain]] = defaultdict(Counter)
    for stack, count in stacks.items():
        names = [each._replace(name=outermost(each.name)) for each in stack if count]
        # a closure of a function that both have, such as a wrapper, says nothing
        new = [
            place
            for place, each in enumerate(names)
            if each.is_installed and (each.file, each.name) not in outer and "<" not in each.name
        ]
        if new:
            callers = [each.name for each in stack[: new[0]] if each in others]
            chain = [first := names[new[0]]]
            # a method of a class that both use is an option of it, and no wrapper
            is_option = (first.file, first.name.rpartition(".")[0]) in classes
            for place in () if is_option else new:
                chain += [names[place]] if _calls(chain[-1], names[place]) else []
            # what both programs call there
            chain += [_OF_BOTH] if any(_calls(chain[-1], each) for each in names[new[-1] :]) else []
            chains[callers[-1] if callers else ""][tuple(chain)] += count
    return chains


def _calls(function: Function, other: Function) -> bool:
    """Return True for functions of two files of a package."""
    packages = {each.file.partition("/")[0] for each in (function, other)}
    return function.file != other.file and len(packages) == 1


def _counts(chains: Counter[_Chain], place: int = 0, *, with_wrappers: bool) -> Counter[Function]:
    """Return the instructions of functions; of what they call if they are wrappers.

    A wrapper computes nothing itself, and most of what it calls is new.
    """
    found: Counter[Function] = Counter()
    for function in dict.fromkeys(chain[place] for chain in chains):
        of_one = Counter({each: n for each, n in chains.items() if each[place] == function})
        called = Counter({each: n for each, n in of_one.items() if each[place + 1 :]})
        new = Counter({each: n for each, n in called.items() if each[place + 1] != _OF_BOTH})
        if not with_wrappers and called == of_one and 2 * new.total() >= of_one.total():
            found.update(_counts(new, place + 1, with_wrappers=False))
        else:
            found[function] += of_one.total()
    return found


def _name_ops(sides: tuple[Reserved, Reserved], reasons: FoundReasons) -> None:
    """Name scopes and primitives that only one program has, wherever XLA fused them.

    Of each op name, the first part that the other program has nowhere counts. What only moves data
    depends on shapes and on the compiler.
    """
    names = []
    for side in sides:
        found: Counter[tuple[str, ...]] = Counter()
        for name, count in side.mentions.op_names.items():
            # a conversion of an argument has its name, as `p['a/b']`; a joined name is of no one op
            is_op = "/" in name.partition("[")[0] or name.startswith((OF_PYTORCH, "xla__"))
            if is_op and ";" not in name and name not in NAMES_OF_INPUTS:
                found[scope_names(name)] += count
        names.append(found)
    known = tuple({_op(part) for name in each for part in name} for each in names)
    common = len(known[0] & known[1])
    if common < _LEAST_COMMON * min(map(len, known)) or not common:
        return
    gone, new = (_parts_of_one(names[side], known[1 - side]) for side in (0, 1))
    if _primitives(names[0]) == _primitives(names[1]):  # only scopes have other names
        return
    if gone.total() + new.total() < _LEAST_OPS:
        return
    reason = reasons.of(ReasonKind.CALLED, before="ops")
    reason.count_a, reason.count_b = gone.total(), new.total()
    reason.scopes, reason.inputs = map(_often, (gone, new))
    is_new = bool(new)
    reason.labels = _lines_of_ops(sides[is_new], known[not is_new], reason.inputs or reason.scopes)


def _lines_of_ops(side: Reserved, others: Set[str], parts: Set[str]) -> set[str]:
    """Return the program's own line that makes most of the ops of some parts; empty if none does.

    ``others`` are the parts that the other program has.
    """
    found: Counter[str] = Counter()
    for site in side.mentions.call_sites.known:
        own = [frame for frame in site.frames if not is_installed(frame.file or "")]
        if own and _part_of_one(scope_names(site.op_name), others) in parts:
            found[place((own[-1].file or "", own[-1].line or 0))] += 1
    return {line for line, count in found.items() if 2 * count > found.total()}


def _parts_of_one(names: Mapping[tuple[str, ...], int], others: Set[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for name, count in names.items():
        first = _part_of_one(name, others)
        if first is not None and first.removeprefix(OF_PYTORCH) not in MOVING:
            found[first] += count
    return found


def _part_of_one(name: Iterable[str], others: Set[str]) -> str | None:
    return next((part for part in map(_op, name) if part not in others), None)


def _primitives(names: Mapping[tuple[str, ...], int]) -> Counter[tuple[int, tuple[str, ...]]]:
    """Return the numbers of ops by primitive, and by the number of scopes around them."""
    found: Counter[tuple[int, tuple[str, ...]]] = Counter()
    for name, count in names.items():
        found[len(name), name[-1:]] += count
    return found


def _op(part: str) -> str:
    """Return a part of an op name without numbers, such as that of a node of PyTorch."""
    return pattern(part).removesuffix(".*")


def _often(counts: Counter[_Named]) -> set[_Named]:
    most = max(counts.values(), default=0)
    return {each for each, count in counts.items() if count >= _LEAST_SHARE * most}


def outermost(name: str) -> str:
    """Return ``scale_by_adam`` of ``scale_by_adam.<locals>.update_fn``; ``Dense`` of its call."""
    return name.partition(LOCALS)[0].removesuffix(".__call__")


def _names(functions: Set[Function], of_both: Set[str]) -> set[str]:
    """Return the names of functions with their packages; with their files if both have them."""
    return {
        f"{each.name}{OF}{each.file if each.name in of_both else each.file.partition('/')[0]}"
        for each in functions
    }


def called_text(reason: Reason) -> str:
    """Return which functions make instructions, and which ones they replace."""
    if reason.subject.before == LAYERS:
        return more_layers_text(reason.scopes, reason.inputs)
    if reason.subject.before:
        return _of_ops(reason)
    gone, new = map(_listed, (reason.scopes, reason.inputs))
    at = "".join(f" (called at {line})" for line in reason.labels)
    if gone and new:
        return f"{new} {'replaces' if len(reason.inputs) == 1 else 'replace'} {gone}{at}"
    if new:
        return f"{counted(reason.count_b, 'op')} made by {new}, none before{at}"
    return f"{counted(reason.count_a, 'op')} made by {gone} before, none now{at}"


def _of_ops(reason: Reason) -> str:
    parts = []
    for names, count, when in (
        (reason.inputs, reason.count_b, ", none before"),
        (reason.scopes, reason.count_a, " before, none now"),
    ):
        if names:
            parts.append(f"{counted(count, 'op')} of {folded(names)}{when}")
    return "; ".join(parts) + "".join(f" (mostly {line})" for line in reason.labels)


def _listed(names: Iterable[str]) -> str:
    """Return names with their package, once if it is that of all."""
    packages = {name.partition(OF)[2] for name in names}
    if len(packages) != 1:
        return folded(names)
    return f"{folded(name.partition(OF)[0] for name in names)}{OF}{packages.pop()}"

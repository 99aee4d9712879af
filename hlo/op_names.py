"""Op names: their scopes and parts, and the pass of a program that an op belongs to.

An op name has parts between slashes outside of brackets, such as ``jit(f)`` and
``transpose(jvp(layer_0))``. The queries of the theme `lifetime` contain the same words for the
backward pass and recomputed ops; a test compares them.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import accumulate, groupby, takewhile
from typing import Final

OF_ANY_LOOP: Final = frozenset(("while", "body", "cond", "closed_call", "eval_jaxpr"))
"""Names that JAX adds to the ops of every loop."""
INPUT_OF_TENSORFLOW: Final = "XLA_Args"
"""Op name of every input of a TensorFlow program, and so of their copies."""
NAMES_OF_INPUTS: Final = frozenset((INPUT_OF_TENSORFLOW, "xla__device_data"))
"""Op names of every input of a TensorFlow and of a PyTorch program."""
OF_PYTORCH: Final = "aten__"
"""Begin of the op names of PyTorch."""
_MARKS: Final = {
    "jax": re.compile(r"(?:^|/)p?jit\(|\bjvp\("),
    "pytorch": re.compile(r"(?:^|/)(?:aten__|xla__|prim__)|\.SyncTensorsGraph\."),
    "tensorflow": re.compile(r"StatefulPartitionedCall|gradient_tape/|__inference_|XLA_Args"),
}


def framework_of(names: Iterable[str | None]) -> str | None:
    """Return the framework that set most op names; None if none has the marks of one.

    Names of modules count too: by default PyTorch/XLA sets no op names.
    """
    known = Counter(name for name in names if name)
    counts = {
        framework: sum(count for name, count in known.items() if mark.search(name))
        for framework, mark in _MARKS.items()
    }
    most = max(counts, key=counts.__getitem__)
    return most if counts[most] else None


_LONGEST: Final = 1000
"""Most characters of a scope: a name of one megabyte could have gigabytes of scopes."""
_KEYS: Final = re.compile(r"[\[.]")
_OP_NUMBER: Final = re.compile(r"_\d+(?=/|$)")
_OF_LINEN: Final = re.compile(r"(?:^|(?<='))Checkpoint(?=[A-Z])")
_WRAPPED: Final = re.compile(r"[A-Za-z_]\w*\((?P<inner>.*)\)", re.DOTALL)
_FUNCTION: Final = re.compile(r"(?:jit|pjit|pmap|xmap)\(.*\)", re.DOTALL)
_OTHER_VERSIONS: Final = (
    ("/jit(main)", ""),
    ("/closed_call", ""),
    ("/eval_jaxpr", ""),
    ("/jit(dynamic_index_in_dim)", ""),
    ("/jit(dynamic_update_index_in_dim)", ""),
    ("(while)))", "()))/while"),
    ("(while))", "())/while"),
    ("(while)", "()/while"),
)
"""Parts of op names that JAX versions write differently, and their replacements, in order."""
_CHECKPOINT_NAMES: Final = frozenset({"checkpoint", "remat", "remat2", "rematted_computation"})
"""Parts of op names that `jax.checkpoint` adds."""
_SUM_OF_GRADIENTS: Final = "/jit(main)/add_any"
BACKWARD_MARKS: Final = ("transpose(", "gradient_tape/", "gradients/")
"""Parts of the op names of the backward pass: JAX, TensorFlow 2, TensorFlow graphs."""
RECOMPUTED_MARKS: Final = ("rematted_computation", "recompute_grad")
"""Parts of the op names of recomputed ops: JAX, and a scope that TensorFlow programs name so."""
_PER_EXAMPLE_MARKS: Final = ("vmap(", "pfor/", "vectorized_map")
"""Parts of the op names of computations vectorized over examples."""


@lru_cache(maxsize=1 << 16)
def scopes(op_name: str) -> tuple[str, ...]:
    """Return every leading part of an op name, shortest first, the whole name last.

    ``jit(f)/a[b/c]/dot`` has the scopes ``jit(f)``, ``jit(f)/a[b/c]`` and itself. The position in
    the tuple, from 1, is the depth. Scopes longer than 1,000 characters are omitted, except the
    whole name.
    """
    if "/" not in op_name:
        return (op_name,)
    ends = accumulate(_split(op_name[: _LONGEST + 1])[:-1], lambda end, part: f"{end}/{part}")
    return (*ends, op_name)


@cache
def own_op_name(op_name: str | None) -> str | None:
    """Return an op name without the name of the compiled function, which may change.

    ``jit(f)/jit(main)/mul`` of older JAX and ``jit(f)/mul`` of newer are both ``mul``;
    ``jvp(while)/body/mul`` and ``jvp()/while/body/closed_call/mul`` are both
    ``jvp()/while/body/mul``.
    """
    if op_name is None:
        return None
    for part, same in _OTHER_VERSIONS:
        op_name = op_name.replace(part, same)
    parts = _split(op_name)
    return "/".join(parts[1:] if len(parts) > 1 and _FUNCTION.fullmatch(parts[0]) else parts)


@cache
def outside_loops(op_name: str | None) -> str | None:
    """Return the own op name as it is where no loop contains the op."""
    own = own_op_name(op_name)
    return own and own.replace("while/body/", "")


def loop_depth(op_name: str | None) -> int:
    """Return the number of loops around an op."""
    return (own_op_name(op_name) or "").count("while/body/")


@cache
def scope_names(op_name: str | None) -> tuple[str, ...]:
    """Return the scopes and the primitive of an op name, outermost first, without transformations.

    ``jit(f)/transpose(jvp(layer_0))/mlp/mul`` has ``layer_0``, ``mlp`` and ``mul``.
    """
    own = own_op_name(op_name)
    if own is None:
        return ()
    names = []
    for part in _split(own):
        while found := _WRAPPED.fullmatch(part):
            part = found["inner"]
        if part:
            names.append(part)
    return tuple(names)


@cache
def stem(op_name: str | None) -> tuple[str, ...]:
    """Return the scope names without checkpoints and without direct repetitions.

    An op of the forward pass and its recomputation have the same stem. So has a Flax Linen module
    with and without `nn.remat`, which calls it `CheckpointBlock_0` instead of `Block_0`.
    """
    names = (name for name in scope_names(op_name) if name not in _CHECKPOINT_NAMES)
    return _once((_OF_LINEN.sub("", name) for name in names), _functions_around(op_name))


def names_before_checkpoint(op_name: str | None) -> tuple[str, ...]:
    """Return the scopes around the outermost checkpoint, or all names if there is none."""
    names = takewhile(lambda name: name not in _CHECKPOINT_NAMES, scope_names(op_name))
    return _once((_OF_LINEN.sub("", name) for name in names), _functions_around(op_name))


def is_named_by_first_call(op_name: str | None) -> bool:
    """Return True for an op of an inner jitted function in a program of JAX before 0.7.

    Such a function is lowered once, with the scopes of its first call, for all calls.
    """
    _, _, inner = (op_name or "").partition("/jit(main)/")
    return "jit(" in inner


def argument_name(op_name: str | None) -> str:
    """Return the name of an input's argument: ``state`` of ``state['w']`` and ``state[0].mu``."""
    return _KEYS.split(op_name or "", maxsplit=1)[0]


def last_part(op_name: str | None) -> str:
    """Return the text after the last slash, with the marks of transformations; '' without one."""
    return (op_name or "").rpartition("/")[2]


def primitive(op_name: str | None) -> str | None:
    """Return the last part of an op name, which is the primitive; None without an op name."""
    names = scope_names(op_name)
    return names[-1] if names else None


def has_checkpoint(op_name: str | None) -> bool:
    """Return True if the op belongs to a function wrapped in `jax.checkpoint`."""
    return not _CHECKPOINT_NAMES.isdisjoint(scope_names(op_name))


def without_numbers(op_name: str | None) -> str:
    """Return an op name without the numbers by which TensorFlow tells ops of equal names apart.

    Equal parts of a program have the same ops: ``gradient_tape/MatMul_3/MatMul_1`` is
    ``gradient_tape/MatMul/MatMul``.
    """
    return _OP_NUMBER.sub("", op_name or "")


@lru_cache(maxsize=1 << 16)
def is_backward(op_name: str | None) -> bool:
    """Return True if an op belongs to the backward pass; False without a name.

    Where JAX before 0.7 leaves out the mark, only sums of several gradients show it.
    """
    name = op_name or ""
    return any(mark in name for mark in BACKWARD_MARKS) or name.endswith(_SUM_OF_GRADIENTS)


def has_all_transformations(op_names: Iterable[str | None]) -> bool:
    """Return True if ops show each transformation; False for the names of JAX before 0.7.

    It left out ``jvp()`` and ``vmap()`` of ops without a scope.
    """
    return not any("/jit(main)/" in (op_name or "") for op_name in op_names)


def is_recomputed(op_name: str | None) -> bool:
    """Return True if a checkpoint recomputes an op; False without a name."""
    return any(mark in (op_name or "") for mark in RECOMPUTED_MARKS)


def of_first_computation(op_name: str | None) -> str | None:
    """Return an op's name; of one that a checkpoint recomputes, without marks of a backward pass.

    What the checkpoint itself differentiates keeps its marks.
    """
    for mark in RECOMPUTED_MARKS:
        outer, found, inner = (op_name or "").partition(mark)
        if found:
            return of_forward_pass(outer) + inner
    return op_name


def inner_gradients(op_names: Iterable[str | None]) -> frozenset[str]:
    """Return the scopes of a backward pass in which a gradient of their own is computed.

    ``jit(f)/transpose(jvp())/while/body`` of ``…/while/body/transpose(jvp())/mul``.
    """
    mark = f"/{BACKWARD_MARKS[0]}"
    found = {name.rpartition(mark)[0] for name in op_names if name and name.count(mark) > 1}
    return frozenset(each for each in found if is_backward(each))


def is_of_inner_gradient(op_name: str | None, scopes: Iterable[str]) -> bool:
    """Return True if an op belongs to the forward pass of a gradient in one of these scopes."""
    return any((op_name or "").startswith(f"{scope}/jvp(") for scope in scopes)


def of_forward_pass(op_name: str) -> str:
    """Return an op's name without marks of a backward pass."""
    for each in BACKWARD_MARKS:
        op_name = op_name.replace(each, "(" if each.endswith("(") else "")
    return op_name


def is_checkpointed(op_name: str | None) -> bool:
    """Return True for an op of the backward pass of a checkpoint; False without a name."""
    if is_recomputed(op_name):
        return True
    return is_backward(op_name) and not _CHECKPOINT_NAMES.isdisjoint(scope_parts(op_name or ""))


def is_per_example(op_name: str | None) -> bool:
    """Return True if an op is vectorized over examples; False without a name."""
    return any(mark in (op_name or "") for mark in _PER_EXAMPLE_MARKS)


@lru_cache(maxsize=1 << 16)
def scope_parts(op_name: str) -> tuple[str, ...]:
    """Return the parts of an op name without their transformations."""
    return tuple(map(_without_transformations, _split(op_name)))


def _once(names: Iterable[str], functions: int = 0) -> tuple[str, ...]:
    """Return names without direct repetitions, of one name or of all from the first one on.

    JAX names what the backward pass of a checkpoint runs from the outermost scope on again, without
    the ``functions`` around it: ``jit(step)/transpose(jvp(net))/block_0/jvp(net)/block_0/mul``.
    """
    found = tuple(name for name, _ in groupby(names))
    for start in dict.fromkeys((0, functions)):
        outside, inside = found[:start], found[start:]
        if not inside or inside[0] in OF_ANY_LOOP:
            continue
        for length in range(2, len(inside) // 2 + 1):
            if inside[:length] == inside[length : 2 * length]:
                return _once((*outside, *inside[length:]), functions)
    return found


def _functions_around(op_name: str | None) -> int:
    """Return how many jitted functions, besides the compiled one, are around all other scopes."""
    parts = _split(own_op_name(op_name) or "")
    return sum(1 for _ in groupby(takewhile(_FUNCTION.fullmatch, parts)))


def _split(op_name: str) -> list[str]:
    """Split at slashes outside brackets."""
    if not any(bracket in op_name for bracket in "([{"):
        return op_name.split("/")
    parts, depth = [""], 0
    for piece in re.split(r"([/()\[\]{}])", op_name):
        if piece == "/" and depth == 0:
            parts.append("")
            continue
        if piece in ("(", "[", "{"):
            depth += 1
        elif piece in (")", "]", "}") and depth:
            depth -= 1
        parts[-1] += piece
    return parts


def _without_transformations(part: str) -> str:
    """Return `layer_0` of `transpose(jvp(layer_0))`; keep `jit(f)`, which is a function."""
    while part.endswith(")") and not part.startswith(("jit(", "pjit(")):
        _, opening, inner = part[:-1].partition("(")
        if not opening or not inner:
            break
        part = inner
    return part

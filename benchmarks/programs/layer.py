"""One layer of a training step, forward and backward: attention and a perceptron."""

from typing import NamedTuple

from benchmarks.programs.hlo_text import ATTENTION, LAMBDA, LAYERNORM, MLP, array
from benchmarks.programs.step_builder import Ref, StepBuilder

PARAMETERS = ("ln1", "wqkv", "bqkv", "wo", "ln2", "w1", "b1", "w2", "b2")


class Sizes(NamedTuple):
    """Sizes that determine the shapes."""

    batch: int = 8
    sequence: int = 64
    width: int = 128
    heads: int = 4


USUAL_SIZES = Sizes()


class Saved(NamedTuple):
    """Values of a layer that its backward pass reads."""

    entered: Ref
    normed: Ref
    query: Ref
    key: Ref
    value: Ref
    weights: Ref
    merged: Ref
    residual: Ref
    normed_again: Ref
    active: Ref


class Layer:
    """Emits layers; all have the same shapes."""

    def __init__(self, builder: StepBuilder, sizes: Sizes) -> None:
        self.builder = builder
        batch, sequence, width, heads = sizes
        self.stream = array("f32", batch, sequence, width)
        self.row = array("f32", batch, sequence)
        self.wide = array("f32", batch, sequence, 3 * width)
        self.inner = array("f32", batch, sequence, 4 * width)
        self.head = array("f32", batch, heads, sequence, width // heads)
        self.square = array("f32", batch, heads, sequence, sequence)
        self.tokens = array("s32", batch, sequence)
        self.shapes = {
            "ln1": array("f32", width), "wqkv": array("f32", width, 3 * width),
            "bqkv": array("f32", 3 * width), "wo": array("f32", width, width),
            "ln2": array("f32", width), "w1": array("f32", width, 4 * width),
            "b1": array("f32", 4 * width), "w2": array("f32", 4 * width, width),
            "b2": array("f32", width),
        }  # fmt: skip
        self.scratch_bytes = 256 * width

    def forward(self, layer: int, stream: Ref, weights: dict[str, Ref]) -> tuple[Ref, Saved]:
        """Emit a forward pass; return the input of the next layer, and the kept values."""
        build = self.builder
        attention, mlp = (f"jit(train_step)/jvp(h_{layer})/{part}" for part in ("attention", "mlp"))
        normed = self._layernorm(stream, weights["ln1"], attention)
        wide = build.operation(
            "dot", self.wide, [normed, weights["wqkv"]], f"{attention}/dot_general", ATTENTION,
            ", lhs_contracting_dims={2}, rhs_contracting_dims={0}", "dot_general",
        )  # fmt: skip
        wide = build.fuse(
            "add_bitcast_fusion", self.wide, [wide, weights["bqkv"]], f"{attention}/add",
            ATTENTION, overwrites=wide,
        )  # fmt: skip
        query, key, value = (
            build.fuse("transpose_copy_fusion", self.head, [wide], f"{attention}/transpose", LAMBDA)
            for _ in range(3)
        )
        scores = build.library_call(
            self.square, self.scratch_bytes, [query, key],
            f"{attention}/bhqd,bhkd->bhqk/dot_general", ATTENTION,
        )  # fmt: skip
        chances = build.fuse(
            "exponential_divide_fusion", self.square, [scores], f"{attention}/exp", ATTENTION,
            overwrites=scores,
        )  # fmt: skip
        context = build.operation(
            "dot", self.head, [chances, value], f"{attention}/bhqk,bhkd->bhqd/dot_general",
            ATTENTION, ", lhs_batch_dims={0,1}, rhs_batch_dims={0,1}", "dot_general",
        )  # fmt: skip
        merged = build.bitcast(context, self.stream)
        copied = build.operation(
            "copy", self.shapes["wo"], [weights["wo"]], f"{attention}/copy", ATTENTION
        )
        attended = build.operation(
            "dot", self.stream, [merged, copied], f"{attention}/dot_general", ATTENTION,
            ", lhs_contracting_dims={2}, rhs_contracting_dims={0}", "dot_general",
        )  # fmt: skip
        residual = build.fuse(
            "add_fusion", self.stream, [stream, attended], f"{attention}/add", ATTENTION,
            overwrites=attended,
        )  # fmt: skip
        normed_again = self._layernorm(residual, weights["ln2"], mlp)
        gathered = build.operation(
            "all-gather", self.shapes["w1"], [weights["w1"]], f"{mlp}/all_gather", MLP,
            ", channel_id=1, replica_groups={{0,1}}, dimensions={0}",
        )  # fmt: skip
        inner = build.operation(
            "dot", self.inner, [normed_again, gathered], f"{mlp}/dot_general", MLP,
            ", lhs_contracting_dims={2}, rhs_contracting_dims={0}", "dot_general",
        )  # fmt: skip
        active = build.fuse(
            "multiply_tanh_fusion", self.inner, [inner, weights["b1"]], f"{mlp}/mul", MLP,
            overwrites=inner,
        )  # fmt: skip
        out = build.library_call(
            self.stream, self.scratch_bytes, [active, weights["w2"]], f"{mlp}/dot_general", MLP
        )
        stream = build.fuse(
            "add_add_fusion", self.stream, [residual, out, weights["b2"]], f"{mlp}/add", MLP,
            overwrites=out,
        )  # fmt: skip
        kept = Saved(
            stream, normed, query, key, value, chances, merged, residual, normed_again, active
        )
        return stream, kept

    def _layernorm(self, stream: Ref, scale: Ref, scope: str) -> Ref:
        build = self.builder
        mean = build.fuse(
            "reduce_fusion", self.row, [stream], f"{scope}/reduce_sum", LAYERNORM, reducer="add"
        )
        return build.fuse(
            "multiply_rsqrt_fusion", self.stream, [stream, mean, scale], f"{scope}/mul", LAYERNORM
        )

    def backward(
        self, layer: int, gradient: Ref, saved: Saved, weights: dict[str, Ref]
    ) -> tuple[Ref, dict[str, Ref]]:
        """Emit a backward pass: the gradient for the layer before, and those of the weights."""
        build = self.builder
        attention, mlp = (
            f"jit(train_step)/transpose(jvp(h_{layer}))/{part}" for part in ("attention", "mlp")
        )
        gradients: dict[str, Ref] = {}

        def matrix(name: str, left: Ref, right: Ref, scope: str, frame: int) -> None:
            gradients[name] = build.operation(
                "dot", self.shapes[name], [left, right], f"{scope}/dot_general", frame,
                ", lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}", "dot_general",
            )  # fmt: skip

        def vector(name: str, operand: Ref, scope: str, frame: int) -> None:
            gradients[name] = build.fuse(
                "reduce_sum_fusion", self.shapes[name], [operand], f"{scope}/reduce_sum", frame,
                reducer="add",
            )  # fmt: skip

        def through_layernorm(
            scale: str, operand: Ref, weight: str, stream: Ref, scope: str, frame: int
        ) -> Ref:
            narrow = build.operation(
                "dot", self.stream, [operand, weights[weight]], f"{scope}/dot_general", frame,
                ", lhs_contracting_dims={2}, rhs_contracting_dims={1}", "dot_general",
            )  # fmt: skip
            vector(scale, narrow, scope, LAYERNORM)
            return build.fuse(
                "add_any_fusion", self.stream, [gradient, narrow, stream, weights[scale]],
                f"{scope}/add_any", LAYERNORM, overwrites=narrow,
            )  # fmt: skip

        vector("b2", gradient, mlp, MLP)
        matrix("w2", saved.active, gradient, mlp, MLP)
        inner = build.library_call(
            self.inner, self.scratch_bytes, [gradient, weights["w2"]], f"{mlp}/dot_general", MLP
        )
        inner = build.fuse(
            "multiply_add_fusion", self.inner, [inner, saved.active], f"{mlp}/mul", MLP,
            overwrites=inner,
        )  # fmt: skip
        vector("b1", inner, mlp, MLP)
        matrix("w1", saved.normed_again, inner, mlp, MLP)
        gradient = through_layernorm("ln2", inner, "w1", saved.residual, mlp, MLP)
        matrix("wo", saved.merged, gradient, attention, ATTENTION)
        context = build.library_call(
            self.head, self.scratch_bytes, [gradient, weights["wo"]],
            f"{attention}/dot_general", ATTENTION,
        )  # fmt: skip
        chances = build.operation(
            "dot", self.square, [context, saved.value], f"{attention}/dot_general", ATTENTION,
            ", lhs_batch_dims={0,1}, rhs_batch_dims={0,1}", "dot_general",
        )  # fmt: skip
        row = build.fuse(
            "reduce_fusion", self.row, [chances, saved.weights], f"{attention}/reduce_max",
            LAMBDA, reducer="maximum",
        )  # fmt: skip
        scores = build.fuse(
            "select_multiply_fusion", self.square, [chances, row, saved.weights],
            f"{attention}/mul", LAMBDA, overwrites=chances,
        )  # fmt: skip
        heads = [
            build.operation(
                "dot", self.head, [scores, other], f"{attention}/dot_general", LAMBDA,
                ", lhs_batch_dims={0,1}, rhs_batch_dims={0,1}", "dot_general",
            )
            for other in (saved.query, saved.key)
        ]  # fmt: skip
        wide = build.operation(
            "concatenate", self.wide, [*heads, context], f"{attention}/concatenate", LAMBDA,
            ", dimensions={2}",
        )  # fmt: skip
        vector("bqkv", wide, attention, ATTENTION)
        matrix("wqkv", saved.normed, wide, attention, ATTENTION)
        gradient = through_layernorm("ln1", wide, "wqkv", saved.entered, attention, ATTENTION)
        return gradient, gradients

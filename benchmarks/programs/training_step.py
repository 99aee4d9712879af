"""A layered training step: donated parameters, forward, backward, optimizer, result tuple."""

from benchmarks.programs.hlo_text import ADAM, LOSS
from benchmarks.programs.layer import PARAMETERS, Layer, Sizes
from benchmarks.programs.program import Program
from benchmarks.programs.step_builder import Ref, StepBuilder
from benchmarks.programs.step_ending import finish


def training_step(layers: int, sizes: Sizes) -> Program:
    """Plan a step of ``layers`` layers; the same arguments give the same program."""
    return _TrainingStep(layers, sizes).build()


class _TrainingStep:
    def __init__(self, layers: int, sizes: Sizes) -> None:
        self.layers = layers
        self.builder = StepBuilder("jit_train_step")
        self.layer = Layer(self.builder, sizes)

    def build(self) -> Program:
        build = self.builder
        state = [
            [
                {
                    name: build.parameter(
                        f"state_{part}___layers____h_{layer}____{name}__",
                        self.layer.shapes[name],
                        f"state[{part}][\\'layers\\'][\\'h_{layer}\\'][\\'{name}\\']",
                    )
                    for name in PARAMETERS
                }
                for layer in range(self.layers)
            ]
            for part in range(3)
        ]
        tokens = build.parameter("tokens", self.layer.tokens, "tokens")
        rate = build.constant("f32[]", "0.001")
        stream = build.operation("iota", self.layer.stream, [], "jit(train_step)/iota", LOSS)
        stream = build.fuse(
            "gather_add_fusion",
            self.layer.stream,
            [tokens, stream],
            "jit(train_step)/jvp()/gather",
            LOSS,
        )
        saved = []
        for layer in range(self.layers):
            stream, kept = self.layer.forward(layer, stream, state[0][layer])
            saved.append(kept)
        loss = build.fuse(
            "reduce_loss_fusion", "f32[]", [stream, tokens], "jit(train_step)/jvp()/reduce_sum",
            LOSS, reducer="add",
        )  # fmt: skip
        gradient = build.operation(
            "broadcast", self.layer.stream, [rate],
            "jit(train_step)/transpose(jvp())/broadcast_in_dim", LOSS, ", dimensions={}",
        )  # fmt: skip
        results: list[Ref] = []
        for layer in reversed(range(self.layers)):
            gradient, gradients = self.layer.backward(layer, gradient, saved.pop(), state[0][layer])
            parts = (state[0][layer], state[1][layer], state[2][layer])
            results += self._update(parts, gradients, rate)
        return finish(build, [*results, loss])

    def _update(
        self, state: tuple[dict[str, Ref], ...], gradients: dict[str, Ref], rate: Ref
    ) -> list[Ref]:
        build = self.builder
        results = []
        for name in PARAMETERS:
            shape = self.layer.shapes[name]
            parameter, mean, variance = (part[name] for part in state)
            new_mean = build.fuse(
                "multiply_add_fusion",
                shape,
                [gradients[name], mean],
                "jit(train_step)/adam/add",
                ADAM,
            )
            new_variance = build.fuse(
                "square_add_fusion", shape, [gradients[name], variance],
                "jit(train_step)/adam/square", ADAM,
            )  # fmt: skip
            updated = build.fuse(
                "divide_subtract_fusion", shape, [parameter, new_mean, new_variance, rate],
                "jit(train_step)/adam/sub", ADAM,
            )  # fmt: skip
            for old, new in ((parameter, updated), (mean, new_mean), (variance, new_variance)):
                build.donate(old, new)
                results.append(new)
        return results

"""A convolutional classifier of Keras on its JAX backend, trained without state."""

import os

os.environ["KERAS_BACKEND"] = "jax"

import jax
import jax.numpy as jnp
import keras

from benchmarks.accuracy.step import Program, Step

BATCH = 16


def build(flags):
    keras.utils.clear_session()
    x = inputs = keras.Input((32, 32, 3))
    for width in (32, 64):
        x = keras.layers.Conv2D(width, 3, padding="same", activation="relu")(x)
        x = keras.layers.BatchNormalization()(x)
        x = keras.layers.MaxPooling2D()(x)
    outputs = keras.layers.Dense(100)(
        keras.layers.Dense(256, activation="relu")(keras.layers.Flatten()(x))
    )
    model = keras.Model(inputs, outputs)
    optimizer = keras.optimizers.Adam(1e-3)
    optimizer.build(model.trainable_variables)
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def shapes(variables):
        return [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in variables]

    batch = BATCH // 2 if "half the batch" in flags else BATCH

    def loss(trainable, others, images, labels):
        logits, others = model.stateless_call(trainable, others, images, training=True)
        return loss_of(labels, logits), others

    def train(trainable, others, state, images, labels):
        (value, others), gradients = jax.value_and_grad(loss, has_aux=True)(
            trainable, others, images, labels
        )
        if "update after backward" in flags:
            last = 0.0 * gradients[0].sum()
            gradients = [gradient + last for gradient in gradients]
        new, state = optimizer.stateless_apply(state, gradients, trainable)
        if "gradients returned" in flags:
            return new, others, state, value, gradients
        return new, others, state, value

    arguments = (
        shapes(model.trainable_variables),
        shapes(model.non_trainable_variables),
        shapes(optimizer.variables),
        jax.ShapeDtypeStruct((batch, 32, 32, 3), jnp.float32),
        jax.ShapeDtypeStruct((batch,), jnp.int32),
    )
    return Step(train, arguments, () if "not donated" in flags else (0, 1, 2))


PROGRAM = Program(
    mistakes={"not donated": "donation", "gradients returned": "output"},
    edits={"half the batch": "batch", "update after backward": "reader"},
    predictions={
        "half the batch": ("--batch-of", "images", "--batch-of", "labels", "--batch", "2")
    },
)

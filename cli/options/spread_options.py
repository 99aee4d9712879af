"""How a command takes several options as one value."""

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import fields
from enum import Enum
from typing import TypeVar, get_type_hints

import typer

__all__ = ["pass_on_options", "spread_options"]

T = TypeVar("T")


def spread_options(
    command: Callable[..., T], extra: Sequence[inspect.Parameter] = ()
) -> Callable[..., T]:
    """Return the command with one option for each field of its dataclass parameter ``options``.

    ``extra`` are further options, which replace its ``**parameters``.
    """
    signature = inspect.signature(command, eval_str=True)
    bundle = signature.parameters["options"].annotation
    hints = get_type_hints(bundle, include_extras=True)
    own = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in signature.parameters.values()
        if parameter.name != "options" and parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    shared = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in reversed(fields(bundle))  # what all commands share stands last
    ]

    @functools.wraps(command)
    def spread(**arguments: object) -> T:
        options = bundle(**{field.name: arguments.pop(field.name) for field in shared})
        return command(**arguments, options=options)

    parameters = [*own, *extra, *shared]
    vars(spread)["__signature__"] = signature.replace(parameters=parameters)
    spread.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return spread


def pass_on_options(context: typer.Context) -> None:
    """Pass options that stand before the name of a subcommand on to it."""
    if context.invoked_subcommand is not None:
        given = {
            # as it is typed: another command may know the choice by another enum
            name: value.value if isinstance(value, Enum) else value
            for name, value in context.params.items()
            if value is not None
        }
        context.default_map = {context.invoked_subcommand: given}

"""Avoids that typer loads pydantic to convert the defaults of options that were not given.

The list of queries takes 0.17 s of processor time; without either function, 0.29 to 0.32 s.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer
    from typer._click import Parameter

__all__ = ["take_defaults", "without_missing_defaults"]


def without_missing_defaults(parameters: "list[Parameter]") -> "list[Parameter]":
    """Return parameters, flags without a default set to False: typer converts None, not False."""
    for parameter in parameters:
        if parameter.default is None and getattr(parameter, "is_flag", False):
            parameter.default = False
    return parameters


def take_defaults(context: "typer.Context", parameters: "Sequence[Parameter]") -> None:
    """Set the parameters of a command without arguments to their declared defaults."""
    context.params.update(
        {str(parameter.name): parameter.get_default(context) for parameter in parameters}
    )

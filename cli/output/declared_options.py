"""Options of commands: declared once as fields of a dataclass, converted without pydantic.

    @dataclass(frozen=True)
    class LoadOptions(GraphOptions):
        run: str | None = option("Name of the run.", metavar="NAME")
        dry_run: bool = flag("Read everything, write nothing.")

The help lists the fields of a class before those of its bases, each in the source's order.
"""

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, Field, field, fields, is_dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final, TypeVar, cast, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

if TYPE_CHECKING:
    from typer._click.core import Command, Context, Parameter
    from typer._click.formatting import HelpFormatter
    from typer._coercion import TypeDescriptor

    Completion = Callable[[typer.Context, str], list[str]]

T = TypeVar("T")
_UNCUT: Final = 100_000
"""Number of characters that no summary has."""
_BOUNDS: Final = "_get_number_range_help_str"
"""Method of typer that writes the bounds of a number."""


def option(
    text: str,
    *names: str,
    default: T | None = None,
    metavar: str | None = None,
    least: float | None = None,
    most: float | None = None,
    parser: Callable[[str], object] | None = None,
    check: Callable[[T], T] | None = None,
    completion: "Completion | None" = None,
    is_eager: bool = False,
    is_hidden: bool = False,
) -> T:
    """Return a field that is an option with a help text.

    It is called `--field-name`. ``names`` are more names, or others if one begins with `--`.
    ``check`` receives the value and returns it, or raises an error.
    """
    make = functools.partial(
        typer.Option,
        help=text,
        metavar=metavar,
        min=least,
        max=most,
        parser=parser,
        callback=check,
        autocompletion=completion,
        is_eager=is_eager,
        hidden=is_hidden,
    )
    return cast("T", field(default=default, metadata={"names": names, "option": make}))


def flag(text: str, *names: str, check: Callable[[bool], bool] | None = None) -> bool:
    """Return a field that is an option without a value, False if it is not given."""
    return option(text, *names, default=False, check=check)


def spread_options(
    command: Callable[..., T], extra: Sequence[inspect.Parameter] = ()
) -> Callable[..., T]:
    """Return the command with one option for each field of its dataclass parameter ``options``.

    ``extra`` are additional options, which replace its ``**parameters``.
    """
    signature = inspect.signature(command, eval_str=True)
    bundle = signature.parameters["options"].annotation
    own = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in signature.parameters.values()
        if parameter.name != "options" and parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    shared = list(_options(bundle))

    @functools.wraps(command)
    def spread(**arguments: object) -> T:
        options = bundle(**{each.name: arguments.pop(each.name) for each in shared})
        return command(**arguments, options=options)

    parameters = [*own, *extra, *shared]
    vars(spread)["__signature__"] = signature.replace(parameters=parameters)
    spread.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return spread


def _options(bundle: type) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(bundle, include_extras=True)
    owners = list(filter(is_dataclass, bundle.__mro__))
    # a field that is declared again keeps its place
    owner_by_name = {name: owner for owner in owners for name in inspect.get_annotations(owner)}
    for owner in owners:
        for declared in fields(bundle):
            if owner_by_name[declared.name] is owner:
                yield _parameter(declared, hints[declared.name])


def _parameter(declared: "Field[object]", hint: object) -> inspect.Parameter:
    names: Sequence[str] = declared.metadata["names"]
    if not any(name.startswith("--") for name in names):
        names = (f"--{declared.name.replace('_', '-')}", *names)
    return inspect.Parameter(
        declared.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if declared.default is MISSING else declared.default,
        annotation=Annotated[hint, declared.metadata["option"](*names)],
    )


def pass_on_options(context: typer.Context) -> None:
    """Pass options given before the name of a subcommand on to it."""
    if context.invoked_subcommand is not None:
        given = {
            # as typed: the subcommand may use a different enum for the choice
            name: value.value if isinstance(value, StrEnum) else value
            for name, value in context.params.items()
            if value is not None and _is_given(context, name)
        }
        context.default_map = {context.invoked_subcommand: given}


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


class QuickCommand(TyperCommand):
    """A command that converts plain values without pydantic, which takes 0.2 s to import."""

    def get_params(self, ctx: "Context") -> "list[Parameter]":
        """Return arguments and options."""
        return _converting_quickly(super().get_params(ctx))


class QuickGroup(TyperGroup):
    """A command with subcommands that converts plain values without pydantic."""

    def get_params(self, ctx: "Context") -> "list[Parameter]":
        """Return arguments and options."""
        return _converting_quickly(super().get_params(ctx))

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Write all subcommands."""
        self.write_commands("Commands", self.list_commands(ctx), ctx, formatter)

    def write_commands(
        self, title: str, names: Sequence[str], ctx: "Context", formatter: "HelpFormatter"
    ) -> None:
        """Write subcommands with their whole summaries, which typer would cut at 45 characters."""
        width = max(map(len, self.list_commands(ctx)), default=0)
        found = ((name, self.get_command(ctx, name)) for name in names)
        with formatter.section(title):
            formatter.write_dl(
                [
                    (name.ljust(width), command.get_short_help_str(_UNCUT))
                    for name, command in found
                    if command is not None and not command.hidden
                ]
            )


def new_command(
    function: Callable[..., object],
    name: str | None = None,
    text: str | None = None,
    extra: Sequence[inspect.Parameter] = (),
) -> "Command":
    """Return a function's command; name and help are its own if they are not given."""
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command(name, cls=QuickCommand, help=text)(spread_options(function, extra))
    return get_command(app)


def _converting_quickly(parameters: "list[Parameter]") -> "list[Parameter]":
    for parameter in parameters:
        convert = parameter.process_value
        if not isinstance(convert, functools.partial):
            vars(parameter)["process_value"] = functools.partial(_converted, parameter, convert)
            vars(parameter)["display_type"] = functools.partial(_placeholder, parameter)
            bounds: Callable[[Parameter], str | None] = vars(type(parameter))[_BOUNDS]
            vars(parameter)[_BOUNDS] = functools.partial(_bounds_text, bounds, parameter)
    return parameters


def _placeholder(parameter: "Parameter", ctx: "Context") -> str:
    """Return what a reader of the help writes in place of a value: `N`, `table|json`."""
    del ctx
    described: TypeDescriptor | None = getattr(parameter, "type_descriptor", None)
    if parameter.param_type_name == "argument" or described is None:
        return ""  # it has a name
    if described.is_choice:
        return "|".join(str(getattr(each, "value", each)) for each in described.choices or ())
    if described.annotation in (int, float) or described.is_ranged:
        return "N"
    return "NAME"


def _bounds_text(bounds: "Callable[[Parameter], str | None]", parameter: "Parameter") -> str | None:
    text = bounds(parameter)
    return None if text is None else text.replace("x", "N")


_UNKNOWN: Final = object()


def _converted(
    parameter: "Parameter",
    convert: "Callable[[Context, object], object]",
    context: "Context",
    value: object,
) -> object:
    """Return a value as its type. Everything that is not plain, and errors, are left to typer."""
    plain = _plain(parameter, value)
    if plain is _UNKNOWN:
        return convert(context, value)
    checked: Callable[[Context, Parameter, object], object] | None = parameter.callback
    return plain if checked is None else checked(context, parameter, plain)


def _plain(parameter: "Parameter", value: object) -> object:
    if value is None:
        is_several = parameter.multiple or parameter.nargs == -1
        return _UNKNOWN if parameter.required else () if is_several else None
    described: TypeDescriptor | None = getattr(parameter, "type_descriptor", None)
    kind = described.annotation if described else None
    if described is not None and kind == list[str] and isinstance(value, list | tuple):
        return _plain_texts(value, described.parameter_info.parser)
    if described is None or not isinstance(kind, type):
        return _UNKNOWN
    if isinstance(value, kind) and not isinstance(value, str):
        return value
    bounds = described.parameter_info
    if not isinstance(value, str) or not value.isascii() or bounds.parser:
        return _UNKNOWN
    if kind is str:
        return value
    if (
        kind is int
        and value.isdecimal()
        and len(value) < 19
        and described.parameter_info.max is None
    ):
        return int(value) if int(value) >= (described.parameter_info.min or 0) else _UNKNOWN
    if issubclass(kind, StrEnum) and value in list(kind):
        return kind(value)
    return _UNKNOWN


def _plain_texts(
    values: "Sequence[object]", parser: "Callable[[str], object] | None"
) -> "list[object] | object":
    texts = [value for value in values if isinstance(value, str) and value.isascii()]
    if len(texts) < len(values):
        return _UNKNOWN
    try:
        return texts if parser is None else list(map(parser, texts))
    except ValueError:
        return _UNKNOWN

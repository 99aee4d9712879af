"""The message that a user reads when a command fails; never a traceback."""

import re
import traceback
from typing import Final

from typer.exceptions import TyperException

from xlagraph.cli.output.exit_codes import ExitCode, exit_code_of
from xlagraph.cli.output.messages import Verbosity, detail, error, problem, verbosity

# messages that typer takes from pydantic, in the words of a command line
_REWORDED: Final = (
    (re.compile(r"Value error, "), ""),
    (re.compile(r"Input should be a valid integer.*"), "expected a whole number such as 20"),
    (re.compile(r"Input should be a valid number.*"), "expected a number such as 0.5"),
    (re.compile(r"Input should be greater than or equal to (\S+)"), r"expected \1 or more"),
)

_OF_PROGRAMS: Final = ("bisect", "record")
"""Commands whose last argument is a program, after `--`."""


def write_usage_error(failure: TyperException) -> int:
    """Write the error in the command line; return the exit code."""
    text = failure.format_message()
    if text.startswith("Usage: "):  # no arguments: the text is the help
        problem(text)
        return ExitCode.USAGE
    for form, words in _REWORDED:
        text = form.sub(words, text)
    context = getattr(failure, "ctx", None)
    command = context.command_path if context else "xlagraph"
    if text.startswith("No such option") and command.rpartition(" ")[2] in _OF_PROGRAMS:
        text = f"{text.rstrip('.')}; the program and its arguments follow `--`"
    error(f"{text.rstrip('.')}; see `{command} --help`")
    return failure.exit_code


def write_failure(failure: Exception) -> ExitCode:
    """Write the error; return the exit code."""
    code = exit_code_of(failure)
    if isinstance(failure, UnicodeEncodeError):  # an argument that is not UTF-8
        error(f"expected UTF-8, found {failure.object!a}")
    elif isinstance(failure, OSError) and failure.filename and failure.strerror:
        error(f"{failure.filename}: {failure.strerror}")
    elif code is None:
        error(f"{type(failure).__name__}: {failure} (this is a defect of xlagraph)")
        if verbosity() < Verbosity.VERBOSE:
            error("please report it with the output of --verbose")
    else:
        error(str(failure) or type(failure).__name__)
    detail("".join(traceback.format_exception(failure)).rstrip())
    return code or ExitCode.FAILED

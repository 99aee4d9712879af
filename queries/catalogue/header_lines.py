"""Parser of header lines: each begins with an @word and can continue below."""

from typing import NamedTuple

from xlagraph.queries.errors import CatalogueError

__all__ = ["Declaration", "malformed", "read_declarations"]


class Declaration(NamedTuple):
    """A declaration: the text after its @word, and the number of its first line."""

    line: int
    word: str
    rest: str


def read_declarations(text: str, file: str) -> tuple[str, list[Declaration]]:
    """Return the title and the declarations in their order.

    Raise CatalogueError where a line is malformed.
    """
    comments: list[str] = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        comments.append(line[2:].strip())
    if not comments or not comments[0] or comments[0].startswith("@"):
        raise CatalogueError(
            f"{file}:1: expected a title, one line that says what the query returns;"
            " begin with e.g. '// Values that are padded most'"
        )
    declarations: list[Declaration] = []
    for number, comment in enumerate(comments[1:], start=2):
        if comment.startswith("@"):
            word, _, rest = comment.partition(" ")
            if not rest.strip():
                raise CatalogueError(f"{file}:{number}: {word} is empty; add its text")
            declarations.append(Declaration(number, word, rest.strip()))
        elif comment:
            if not declarations:
                raise CatalogueError(
                    f"{file}:{number}: the title takes one line; begin this one with an @word"
                )
            last = declarations[-1]
            declarations[-1] = last._replace(rest=f"{last.rest} {comment}")
    return comments[0], declarations


def malformed(declaration: Declaration, example: str, file: str) -> CatalogueError:
    """Return the error for a malformed declaration, with an example."""
    found = f"{declaration.word} {declaration.rest}"[:80]
    return CatalogueError(
        f"{file}:{declaration.line}: expected a line like '{example}', found '{found}'"
    )

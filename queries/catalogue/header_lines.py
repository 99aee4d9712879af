"""The lines of a header: each declaration begins with an @word and can continue below."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar

from xlagraph.queries.catalogue.declarations import ColumnType, LiteralType
from xlagraph.queries.errors import CatalogueError

_Type = TypeVar("_Type", LiteralType, ColumnType)

_WORDS: Final = (
    "@kind", "@answers", "@param", "@bounds", "@column", "@shown", "@measure", "@note", "@empty",
    "@advice", "@evidence", "@once", "@change", "@remedy", "@status",
)  # fmt: skip
_REPEATABLE: Final = ("@param", "@bounds", "@column", "@note", "@remedy")


class Declaration(NamedTuple):
    """The text after an @word, and the number of its first line."""

    line: int
    word: str
    rest: str

    @property
    def name(self) -> str:
        """The key in `Header.lines`: `@param limit`, but `@kind`."""
        is_named = self.word in ("@param", "@column")
        return f"{self.word} {self.rest.split()[0]}" if is_named else self.word


class HeaderLines:
    """The title and the declarations of a header; its errors name file and line."""

    def __init__(self, text: str, file: str) -> None:
        self._file = file
        self.title, self.declarations = self._read(text)
        self.by_word: dict[str, list[Declaration]] = {word: [] for word in _WORDS}
        for declared in self.declarations:
            word = declared.word
            if word not in self.by_word:
                raise self.error(declared, f"expected one of {', '.join(_WORDS)}, found '{word}'")
            if self.by_word[word] and word not in _REPEATABLE:
                raise self.error(declared, f"{word} is given twice; keep one")
            self.by_word[word].append(declared)

    def _read(self, text: str) -> tuple[str, list[Declaration]]:
        comments: list[str] = []
        for line in text.splitlines():
            if not line.startswith("//"):
                break
            comments.append(line[2:].strip())
        if not comments or not comments[0] or comments[0].startswith("@"):
            raise self.error(
                1,
                "expected a title, one line that says what the query returns;"
                " begin with e.g. '// Values that are padded most'",
            )
        found: list[Declaration] = []
        for number, comment in enumerate(comments[1:], start=2):
            if comment.startswith("@"):
                word, _, rest = comment.partition(" ")
                if not rest.strip():
                    raise self.error(number, f"{word} is empty; add its text")
                found.append(Declaration(number, word, rest.strip()))
            elif comment:
                if not found:
                    raise self.error(
                        number, "the title takes one line; begin this one with an @word"
                    )
                found[-1] = found[-1]._replace(rest=f"{found[-1].rest} {comment}")
        return comments[0], found

    def error(self, where: Declaration | int, message: str) -> CatalogueError:
        """Return the error in a line."""
        line = where if isinstance(where, int) else where.line
        return CatalogueError(f"{self._file}:{line}: {message}")

    def match(self, form: re.Pattern[str], declared: Declaration, example: str) -> re.Match[str]:
        """Return the parts of a declaration; raise an error with an example if it is malformed."""
        match = form.fullmatch(declared.rest)
        if match is None or match.groupdict().get("text", "") is None:
            raise self.malformed(declared, example)
        return match

    def malformed(self, declared: Declaration, example: str) -> CatalogueError:
        """Return the error for a malformed declaration."""
        found = f"{declared.word} {declared.rest}"[:80]
        return self.error(declared, f"expected a line like '{example}', found '{found}'")

    def first(self, word: str) -> Declaration | None:
        """Return the declaration of a word; None if there is none."""
        return next(iter(self.by_word[word]), None)

    def required(self, word: str, what: str) -> Declaration:
        """Return the declaration of a word that every header has."""
        found = self.first(word)
        if found is None:
            raise self.error(1, f"no {word}; add a line '// {word} …' with {what}")
        return found

    def choice(self, word: str, allowed: Sequence[str]) -> str:
        """Return the text of a declaration that is one of a few."""
        *others, last = allowed
        expected = f"{', '.join(others)} or {last}"
        found = self.required(word, expected)
        if found.rest not in allowed:
            raise self.error(found, f"expected {word} {expected}, found '{found.rest}'")
        return found.rest

    def type(self, types: type[_Type], name: str, declared: Declaration) -> _Type:
        """Return a type by its name."""
        try:
            return types(name)
        except ValueError:
            expected = f"expected a type, one of {', '.join(types)}, found '{name}'"
            raise self.error(declared, expected) from None

    def reject_repeated(self, word: str) -> None:
        """Raise an error if two declarations have the same name."""
        seen = set[str]()
        for declared in self.by_word[word]:
            if declared.name in seen:
                raise self.error(declared, f"{declared.name} is given twice; keep one")
            seen.add(declared.name)

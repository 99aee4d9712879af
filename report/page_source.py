"""The page: its modules joined into one script, its style sheet, and its HTML document.

The modules are plain ES modules, which a service serves as they are. A file from disk may not
import another, so for a report each module becomes a scope of one script, imports first::

    const $theme = (() => { …; return {shownTheme}; })();
    const $plots_axis = (() => { const {shownTheme} = $theme; …; return {readInk}; })();
"""

import base64
import hashlib
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, Literal

_MAIN: Final = "main.js"

# import {a, b as c} from '../plots/x.js';
_IMPORT: Final = re.compile(
    r"^import \{(?P<names>[^}]*)\} from '(?P<module>\.{1,2}/[a-z_/]+\.js)';$", re.MULTILINE
)
# export function f, export class C, export const c
_EXPORT: Final = re.compile(
    r"^export (?P<rest>(?:async )?(?:function\*?|class|const) (?P<name>\w+))", re.MULTILINE
)
_LEFT_OVER: Final = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


_FRAME: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
{head}
</head>
<body class="{kind}">
{body}
</body>
</html>
"""


@dataclass(frozen=True, slots=True)
class PageSource:
    """The script and style that show the parts of a report."""

    script: str
    style: str

    @property
    def policy(self) -> str:
        """Content security policy that allows only this script and style."""
        return (
            f"default-src 'none'; script-src '{_digest(self.script)}';"
            f" style-src '{_digest(self.style)}'; img-src data: blob:;"
            " base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
        )


@cache
def page_source() -> PageSource:
    """Return script and style of the page, as they are installed."""
    folder = files("xlagraph.report") / "page"
    style = (folder / "page.css").read_text(encoding="utf-8")
    return PageSource(join_modules(dict(_modules(folder))), style)


def html_document(kind: Literal["report", "served"], *, title: str, head: str, body: str) -> str:
    """Return a whole document; the title is text, head and body are HTML."""
    return _FRAME.format(kind=kind, title=escape(title), head=head, body=body)


def _modules(folder: Traversable, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each module below a folder."""
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.is_dir():
            yield from _modules(file, f"{path}{file.name}/")
        elif file.name.endswith(".js"):
            yield path + file.name, file.read_text(encoding="utf-8")


def join_modules(modules: Mapping[str, str], main: str = _MAIN) -> str:
    """Join ES modules into one script that runs `main`.

    Modules are named by their paths. One imports by `import {a, b as c} from './x.js';`, and
    exports one function, class or constant at a time. Raises ValueError if one does otherwise.
    """
    scopes: list[str] = []
    exports: dict[str, list[str]] = {}
    for name in _imports_first(modules, main):
        text = modules[name]
        exports[name] = [found["name"] for found in _EXPORT.finditer(text)]
        for found in _IMPORT.finditer(text):
            origin = _path(name, found["module"])
            for wanted, _ in _imported(found):
                if wanted not in exports[origin]:
                    raise ValueError(f"{name}: {origin} does not export {wanted}")
        text = _IMPORT.sub(partial(_as_destructuring, name), text)
        text = _EXPORT.sub(lambda found: found["rest"], text)
        if odd := _LEFT_OVER.search(text):
            raise ValueError(f"{name}: cannot be joined: {odd.group()}")
        result = ", ".join(exports[name])
        scopes.append(
            f"const ${_scope(name)} = (() => {{\n{text.strip()}\nreturn {{{result}}};\n}})();\n"
        )
    return "'use strict';\n" + "\n".join(scopes)


def _imports_first(modules: Mapping[str, str], main: str) -> list[str]:
    order: list[str] = []
    under_way: list[str] = []

    def visit(name: str) -> None:
        if name in order:
            return
        if name in under_way:
            raise ValueError(f"{name}: imports itself, by way of {' and '.join(under_way)}")
        if name not in modules:
            raise ValueError(f"{under_way[-1] if under_way else main}: there is no {name}")
        under_way.append(name)
        for found in _IMPORT.finditer(modules[name]):
            visit(_path(name, found["module"]))
        order.append(under_way.pop())

    visit(main)
    return order


def _imported(statement: re.Match[str]) -> Iterator[tuple[str, str]]:
    """Yield the names that an import statement binds: original name and local name."""
    for imported in statement["names"].split(","):
        wanted, _, here = imported.strip().partition(" as ")
        if wanted:  # a comma may stand after the last one
            yield wanted, here or wanted


def _path(importer: str, module: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(importer), module))


def _as_destructuring(importer: str, statement: re.Match[str]) -> str:
    names = ", ".join(
        wanted if wanted == here else f"{wanted}: {here}" for wanted, here in _imported(statement)
    )
    return f"const {{{names}}} = ${_scope(_path(importer, statement['module']))};"


def _scope(module: str) -> str:
    return module.removesuffix(".js").replace("/", "_")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")

"""Build the documentation site from the files of the repository.

python docs/build_site.py          writes build/site; warnings, such as broken links, are errors

The pages keep their places relative to each other, so that a link works in the repository and on
the site alike.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

TREE: Final = Path(__file__).resolve().parents[1]
PAGES: Final = TREE / "build" / "pages"
_UNLINKED: Final = frozenset({"tests", "statements"})
"""Folders that no page links to."""


def for_mkdocs(text: str) -> str:
    """Return a page in the dialect of MkDocs: titles of code blocks, Markdown inside of HTML."""
    text = re.sub(r"^```(\w+) (\S+)$", r'```\1 title="\2"', text, flags=re.MULTILINE)
    return text.replace("<details>", '<details markdown="1">')


def main() -> None:
    """Copy every file that git knows and a page may link to, then run MkDocs."""
    shutil.rmtree(PAGES, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=TREE,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        path = Path(name)
        if _UNLINKED.isdisjoint(path.parts) and (TREE / path).is_file():
            (PAGES / path).parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".md":
                text = (TREE / path).read_text(encoding="utf-8")
                (PAGES / path).write_text(for_mkdocs(text), encoding="utf-8")
            else:
                shutil.copyfile(TREE / path, PAGES / path)
    sys.exit(subprocess.run([sys.executable, "-m", "mkdocs", "build"], cwd=TREE).returncode)


if __name__ == "__main__":
    main()

"""Writes the pages that repeat the code, the JSON Schema of answers, and llms.txt.

python docs/generate.py            writes them
python docs/generate.py --check    names those that are stale, and fails
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pages.answers_schema import answers_schema
from pages.command_line import command_line_page
from pages.llms_index import llms_index
from pages.queries import queries_page
from pages.schema import schema_page
from pages.schema_picture import schema_picture

from xlagraph.graph.neo4j.browser_style import grass
from xlagraph.graph.schema import SCHEMA
from xlagraph.queries.catalogue.query_files import load_catalogue

DOCS: Final = Path(__file__).resolve().parent


def generated_pages() -> dict[str, str]:
    """Return the generated pages by file name."""
    return {
        "queries.md": queries_page(load_catalogue()),
        "schema.md": schema_page(),
        "schema.svg": schema_picture(SCHEMA),
        "xlagraph.grass": grass(),
        "cli.md": command_line_page(),
        "answers.schema.json": answers_schema(load_catalogue()),
        "../llms.txt": llms_index((DOCS / "README.md").read_text(encoding="utf-8")),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the stale pages, or name them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="name what is stale; write nothing")
    options = parser.parse_args(arguments)
    stale = {
        name: text
        for name, text in generated_pages().items()
        if not (DOCS / name).exists() or (DOCS / name).read_text(encoding="utf-8") != text
    }
    if options.check and stale:
        sys.exit(f"stale: {', '.join(sorted(stale))}; run python docs/generate.py")
    for name, text in stale.items():
        (DOCS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

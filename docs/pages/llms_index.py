"""llms.txt, an index of the documentation for language models, made from docs/README.md."""

import re
from typing import Final

_LINK: Final = re.compile(r"- \[(?P<title>[^\]]+)\]\((?P<page>[^)]+)\)(?P<says>.*)", re.DOTALL)
_ABOUT: Final = """\
# xlagraph

> Turns the memory plans that XLA dumps for JAX, TensorFlow and PyTorch/XLA into one property
> graph, in a file or in Neo4j, and answers from it: which values share bytes, what is largest at
> the peak and which source line made it, what grew between two runs.

`pip install .` in a clone, then `xlagraph record --run NAME -- COMMAND` or `xlagraph ingest DIR`,
then `xlagraph query` lists the canned queries and `xlagraph query ID --format json` runs one.
Bytes in JSON are integers. Exit codes: 0 done, 1 failed, 2 usage, 3 no graph, 4 a gate tripped.

- [README](README.md): what it answers, with examples
- [JSON Schema of all answers](docs/answers.schema.json)
"""


def llms_index(index: str) -> str:
    """Return llms.txt, with a section for each list of links in the text of docs/README.md."""
    parts = [_ABOUT]
    for block in index.split("\n\n"):
        if block.startswith("- "):
            items = block.split("\n- ")
            links = (_LINK.match(item if item.startswith("- ") else f"- {item}") for item in items)
            parts.append("".join(_item(link) for link in links if link))
        elif block.startswith("## "):
            parts.append(f"{block}\n")
    return "\n".join(parts)


def _item(link: re.Match[str]) -> str:
    says = " ".join(link["says"].split()).lstrip(":, ")
    return f"- [{link['title']}](docs/{link['page']})" + (f": {says}\n" if says else "\n")

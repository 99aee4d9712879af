"""The styles of pictures for Neo4j Browser, as a GraSS file or as commands to paste."""

import json
from collections.abc import Mapping
from typing import Final

from xlagraph.graph.schema_types import caption_property
from xlagraph.graph.styles import (
    EDGE_STYLES,
    FIELD,
    NODE_STYLES,
    EdgeStyle,
    NodeStyle,
    shows_unit,
)

_LIGHT, _DARK = "#FFFFFF", "#000000"
# defaults of Browser, for labels of other programs in the same database
_OTHERS: Final[Mapping[str, Mapping[str, str]]] = {
    "node": {
        "diameter": "50px",
        "color": "#A5ABB6",
        "border-color": "#9AA1AC",
        "border-width": "2px",
        "text-color-internal": _LIGHT,
        "font-size": "10px",
    },
    "relationship": {
        "color": "#A5ABB6",
        "shaft-width": "1px",
        "font-size": "8px",
        "padding": "3px",
        "text-color-external": _DARK,
        "text-color-internal": _LIGHT,
        "caption": "<type>",
    },
}


def grass() -> str:
    """Return the style file, which can be dropped on Browser's window."""
    return "\n".join(
        "\n".join(
            (
                f"{selector} {{",
                *(
                    f'  {name}: "{value}";' if name == "caption" else f"  {name}: {value};"
                    for name, value in properties.items()
                ),
                "}\n",
            )
        )
        for selector, properties in _rules().items()
    )


def setup_commands() -> tuple[str, str]:
    """Return the commands that load the styles, and stop Browser from adding relationships.

    Run each separately: Browser does not run several at once.
    """
    return f":style {json.dumps(_rules(), ensure_ascii=False)}", ":config autoComplete: false"


def _rules() -> dict[str, Mapping[str, str]]:
    nodes = {f"node.{style.label}": _node_rule(style) for style in NODE_STYLES.values()}
    edges = {f"relationship.{style.type}": _edge_rule(style) for style in EDGE_STYLES.values()}
    return {**_OTHERS, **nodes, **edges}


def _node_rule(style: NodeStyle) -> Mapping[str, str]:
    return {
        "diameter": f"{style.diameter}px",
        "color": style.color,
        "border-color": style.color,
        "text-color-internal": _LIGHT if style.has_light_text else _DARK,
        "caption": _node_caption(style),
    }


def _edge_rule(style: EdgeStyle) -> Mapping[str, str]:
    return {
        "color": style.color,
        "shaft-width": f"{style.width}px",
        "caption": _caption(style.caption) or "<type>",
    }


def _node_caption(style: NodeStyle) -> str:
    # a word wider than the circle is cut, and the text after it is dropped
    texts = (*style.details, style.name.replace("{file}:{line}", "line {line} of {file}"))
    return _caption(" ".join(texts))


def _caption(text: str) -> str:
    # Browser does not format numbers: a byte count is replaced by its text
    return FIELD.sub(lambda match: f"{{{_written(match[1])}}}", text)


def _written(field: str) -> str:
    return caption_property(field) if shows_unit(field) else field

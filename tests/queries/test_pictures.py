"""A picture of paths, as rows and in the formats of other programs."""

from xml.etree import ElementTree as ET

import pytest

from xlagraph.graph import Cell, Result
from xlagraph.graph.row_cells import Node, Path, Relationship
from xlagraph.graph.styles import node_caption
from xlagraph.queries import picture_of
from xlagraph.queries.graph_formats import dot, graphml, mermaid

XMLNS = "{http://graphml.graphdrawing.org/xmlns}"


def value(label: str, **properties: Cell) -> Node:
    return Node("Value", {"key": f"run/f#v/{label}", "label": label, **properties})


def taken(later: Node, earlier: Node, shared: int) -> Path:
    edge = Relationship("REUSES", {"sharedBytes": shared}, source=later, target=earlier)
    return Path([later, earlier], [edge])


A = value("a", sizeBytes=2048, liveFrom=0, liveUntil=3)
B = value('b"]<b>&;`', isPhi=True)
RESULT = Result(
    ("holder", "takes"),
    (
        (Path([A], []), None),
        (Path([B], []), taken(B, A, 1024)),
        # an A of another engine, or of another row
        (Path([value("a")], []), taken(B, value("a"), 1024)),
        (Path([Node("Scope", {"key": "jit(f)", "name": "jit(f)"})], []), None),
    ),
)
PICTURE = picture_of(RESULT)


def test_each_node_and_edge_is_drawn_once_in_the_order_of_the_rows():
    assert [node.key for node in PICTURE.nodes] == ["run/f#v/a", f"run/f#v/{B['label']}", "jit(f)"]
    assert [(edge.source.key, edge.target.key) for edge in PICTURE.edges] == [(B.key, A.key)]


def test_a_row_of_the_table_is_an_edge_or_a_node_without_edges():
    assert PICTURE.edge_table() == Result(
        ("sourceLabel", "source", "relationship", "targetLabel", "target", "sharedBytes"),
        (
            ("Value", B["label"], "REUSES", "Value", "a", 1024),
            ("Scope", "jit(f)", None, None, None, None),
        ),
    )


def test_two_different_edges_between_the_same_nodes_stay_separate():
    reader = Node("Instruction", {"key": "run/f#i/i", "name": "i"})
    edges = [Relationship("USED_BY", {"operand": number}, A, reader) for number in (0, 1)]
    rows = tuple((Path([A, reader], [edge]),) for edge in edges)
    assert len(picture_of(Result(("flow",), rows)).edges) == len(edges)


def test_dot_names_values_with_bytes_and_live_range():
    lines = dot(PICTURE).splitlines()
    assert lines[0] == "digraph {"
    assert '  n0 [label="a\\n2.0 KiB\\nsteps 0–3" fillcolor="#0072B2" fontcolor=white]' in lines
    assert '  n1 [label="b\\"]<b>&;`" fillcolor="#0072B2" fontcolor=white]' in lines
    assert '  n1 -> n0 [label="reuses 1.0 KiB" color="#009E73" penwidth=3]' in lines


def test_a_memory_space_has_its_name_beside_its_number():
    hbm = Node("MemorySpace", {"key": "m", "color": 0, "name": "HBM", "physicalPeakBytes": 1024})
    assert node_caption(hbm) == ("memory space 0", "HBM", "1.0 KiB")
    unknown = Node("MemorySpace", {"key": "m", "color": 1, "physicalPeakBytes": 0})
    assert node_caption(unknown) == ("memory space 1", "0 B")


def test_mermaid_escapes_every_special_sign_of_a_name():
    text = mermaid(PICTURE)
    assert 'n0["a<br/>2.0 KiB<br/>steps 0–3"]:::Value' in text
    assert 'n1["b#34;#93;#60;b#62;#38;#59;#96;"]:::Value' in text
    assert 'n1 -- "reuses 1.0 KiB" --> n0' in text
    assert "classDef Value fill:#0072B2,color:#fff" in text


def test_graphml_keeps_all_properties_with_their_types():
    root = ET.fromstring(graphml(PICTURE))
    keys = {
        key.get("id"): (key.get("for"), key.get("attr.name"), key.get("attr.type"))
        for key in root.iter(f"{XMLNS}key")
    }
    assert ("node", "sizeBytes", "long") in keys.values()
    assert ("node", "isPhi", "boolean") in keys.values()
    nodes = list(root.iter(f"{XMLNS}node"))
    data = {keys[datum.get("key")][1]: datum.text for datum in nodes[1]}
    assert data["label"] == B["label"]
    assert data["isPhi"] == "true"
    assert data["nodeLabel"] == "Value"
    (edge,) = root.iter(f"{XMLNS}edge")
    assert (edge.get("source"), edge.get("target")) == ("n1", "n0")


@pytest.mark.parametrize("write", [dot, mermaid, graphml])
def test_an_empty_picture_is_a_picture(write):
    assert write(picture_of(Result(("flow",), ())))

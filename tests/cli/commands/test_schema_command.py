"""`xlagraph schema` lists what a writer of Cypher needs, without a graph."""

import json

from xlagraph.graph.schema import SCHEMA


def rows(ended):
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def test_every_label_and_relationship_type_is_listed_with_its_ends(run):
    found = {row["name"]: row for row in rows(run("schema", "--format", "json"))}
    assert found["Value"]["kind"] == "node"
    assert found["HOLDS"]["pattern"] == "(:Allocation)-[:HOLDS]->(:Value)"
    assert all(row["description"] for row in found.values())


def test_a_label_has_its_properties_and_the_relationships_at_both_ends(run):
    found = rows(run("schema", "Allocation", "--format", "json"))
    assert ("property", "sizeBytes", "INTEGER") in [
        (row["kind"], row["name"], row["type"]) for row in found
    ]
    at_ends = [
        relationship.name
        for relationship in SCHEMA.relationships
        if "Allocation" in (relationship.source, relationship.target)
    ]
    assert {"ALLOCATES", "HOLDS"} <= set(at_ends)
    assert [row["name"] for row in found if row["kind"] == "relationship"] == at_ends


def test_a_relationship_type_has_its_properties(run):
    found = rows(run("schema", "HOLDS", "--format", "json"))
    properties = [property_.name for property_ in SCHEMA.relationship("HOLDS").properties]
    assert "sizeBytes" in properties
    assert [row["name"] for row in found] == [*properties, "HOLDS"]


def test_an_unknown_label_names_similar_ones(run):
    ended = run("schema", "value")
    assert ended.code == 2
    assert "no label or relationship type value; did you mean Value?" in ended.err

"""`xlagraph schema`: what a writer of Cypher needs to know, without a graph."""

import json


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
    assert [row["name"] for row in found if row["kind"] == "relationship"] == ["ALLOCATES", "HOLDS"]


def test_a_relationship_type_has_its_own_properties(run):
    found = rows(run("schema", "HOLDS", "--format", "json"))
    assert [row["name"] for row in found] == ["offsetBytes", "sizeBytes", "HOLDS"]


def test_an_unknown_label_names_what_is_near(run):
    ended = run("schema", "value")
    assert ended.code == 2
    assert "no label or relationship type value; did you mean Value?" in ended.err

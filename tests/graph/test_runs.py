"""Whole runs are removed, renamed and tagged in the same way on both engines."""

import pytest

from tests.graph.made_rows import facts, made_rows
from xlagraph.graph import (
    NameInvalid,
    NameTaken,
    NameUnknown,
    remove,
    remove_runs,
    rename_run,
    tag_run,
)


@pytest.fixture
def two_runs(graph):
    with graph.load() as load:
        load.write(made_rows("a/b"))
        load.write(made_rows("a/b", "module_0002.jit_eval", op="jit(eval)/dot"))
        load.write(made_rows("other"))
    return graph


def runs(graph):
    return graph.query("MATCH (r:Run) RETURN r.key AS run, r.name AS name ORDER BY run").rows


def test_a_run_is_removed_with_its_compilations(two_runs):
    removed = remove(two_runs, "a/b")
    assert removed.runs == ("a/b",)
    assert removed.compilations == ("a/b/module_0001.jit_step", "a/b/module_0002.jit_eval")
    assert runs(two_runs) == (("other", "other"),)


def test_a_run_is_kept_while_it_has_a_compilation(two_runs):
    assert remove(two_runs, "a/b/module_0002.jit_eval").runs == ()
    assert runs(two_runs) == (("a/b", "a/b"), ("other", "other"))
    assert remove(two_runs, "a/b/module_0001.jit_step").runs == ("a/b",)


def test_an_unknown_name_is_not_removed(two_runs):
    with pytest.raises(NameUnknown, match="nobody"):
        remove(two_runs, "nobody")


def test_runs_are_removed_together(two_runs):
    removed = remove_runs(two_runs, ["other", "nobody", "a/b"])
    assert removed.runs == ("a/b", "other")
    assert len(removed.compilations) == 3
    assert runs(two_runs) == ()


def test_a_renamed_run_has_new_keys_and_the_same_facts(two_runs):
    rename_run(two_runs, "a/b", "c")
    assert runs(two_runs) == (("c", "c"), ("other", "other"))
    expected = facts(made_rows("c"))
    expected["Run"] = [text.replace("/dumps/c", "/dumps/a/b") for text in expected["Run"]]
    assert facts(two_runs.read("c/module_0001.jit_step")) == expected
    assert facts(two_runs.read("other/module_0001.jit_step")) == facts(made_rows("other"))
    with pytest.raises(NameUnknown):
        two_runs.read("a/b/module_0001.jit_step")


def test_a_run_does_not_take_another_runs_name(two_runs):
    with pytest.raises(NameTaken, match="other"):
        rename_run(two_runs, "a/b", "other")
    with pytest.raises(NameUnknown, match="nobody"):
        rename_run(two_runs, "nobody", "x")


def test_an_interrupted_renaming_leaves_the_run_as_it_was(two_runs, monkeypatch):
    read = two_runs.read

    def read_the_first(compilation):
        if compilation.endswith("jit_eval"):
            raise KeyboardInterrupt
        return read(compilation)

    monkeypatch.setattr(two_runs, "read", read_the_first)
    with pytest.raises(KeyboardInterrupt):
        rename_run(two_runs, "a/b", "c")
    monkeypatch.undo()
    assert runs(two_runs) == (("a/b", "a/b"), ("other", "other"))
    kept = made_rows("a/b")
    assert facts(two_runs.read(kept.compilation)) == facts(kept)


@pytest.mark.parametrize("name", ["", "/a", "a/"])
def test_a_run_does_not_take_an_ill_formed_name(two_runs, name):
    with pytest.raises(NameInvalid, match="cannot name a run"):
        rename_run(two_runs, "a/b", name)


def test_tags_are_added_changed_and_removed(two_runs):
    tag_run(two_runs, "other", {"job": "7", "commit": "def"})
    tag_run(two_runs, "other", {"job": None, "note": "a=b"})
    found = two_runs.query("MATCH (r:Run {key: 'other'}) RETURN r.tags AS tags").rows
    assert found == ((["commit=def", "note=a=b"],),)
    with pytest.raises(NameUnknown):
        tag_run(two_runs, "nobody", {"a": "b"})

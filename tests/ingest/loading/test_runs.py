"""Ingesting folders: again, changed, removed, moved, or with another name."""

import gzip
from pathlib import Path

import pytest

from tests.ingest.one_value_dumps import compilations, dump_text, messages, name, tags
from xlagraph.ingest import IngestOptions, ingest

BOOKKEEPING_NODES = 1


def test_each_folder_becomes_a_run(graph, runs, write):
    write("baseline")
    write("donated", 1, dump_text(32))
    summary = ingest(graph, runs)
    assert summary.ok
    assert summary.runs == ("baseline", "donated")
    assert summary.added == (f"baseline/{name(1)}", f"donated/{name(1)}")
    assert compilations(graph) == [(f"baseline/{name(1)}", 16), (f"donated/{name(1)}", 32)]
    assert (summary.agreeing, summary.values) == (2, 2)


def test_the_summary_counts_the_rows_written_to_the_graph(graph, runs, write):
    write("baseline")
    summary = ingest(graph, runs)
    (nodes,) = graph.query("MATCH (n) RETURN count(*) AS nodes").rows
    (relationships,) = graph.query("MATCH ()-[r]->() RETURN count(*) AS relationships").rows
    assert (summary.nodes,) == (nodes[0] - BOOKKEEPING_NODES,)
    assert (summary.relationships,) == relationships


def test_the_same_content_again_changes_nothing(graph, runs, write):
    write("baseline")
    ingest(graph, runs)
    before = graph.read(f"baseline/{name(1)}")
    summary = ingest(graph, runs)
    assert summary.ok
    assert (summary.added, summary.updated) == ((), ())
    assert summary.unchanged == (f"baseline/{name(1)}",)
    assert summary.agreeing == 1
    assert graph.read(f"baseline/{name(1)}") == before


def test_the_same_content_packed_is_the_same(graph, runs, write):
    path = write("baseline")
    ingest(graph, runs)
    Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert ingest(graph, runs).unchanged == (f"baseline/{name(1)}",)


def test_bytes_read_are_those_on_disk_for_new_and_unchanged_files(graph, runs, write):
    path = write("baseline")
    packed = Path(f"{path}.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    read = [ingest(graph, runs).bytes_read for _ in range(2)]
    assert read == [packed.stat().st_size] * 2


def test_changed_content_replaces_the_old(graph, runs, write):
    write("baseline")
    ingest(graph, runs)
    write("baseline", 1, dump_text(64))
    summary = ingest(graph, runs)
    assert summary.updated == (f"baseline/{name(1)}",)
    assert compilations(graph) == [(f"baseline/{name(1)}", 64)]


def test_compilations_without_files_stay_and_are_reported(graph, runs, write):
    write("baseline", 1)
    write("baseline", 2).unlink()
    write("baseline", 2)
    ingest(graph, runs)
    (runs / "baseline" / f"{name(2)}-buffer-assignment.txt").unlink()
    summary = ingest(graph, runs)
    assert (summary.gone, summary.dropped) == ((f"baseline/{name(2)}",), ())
    assert len(compilations(graph)) == 2


def test_replace_removes_compilations_without_files(graph, runs, write):
    write("baseline", 1)
    gone = write("baseline", 2)
    ingest(graph, runs)
    gone.unlink()
    summary = ingest(graph, runs, IngestOptions(replace=True))
    assert (summary.gone, summary.dropped) == ((), (f"baseline/{name(2)}",))
    assert compilations(graph) == [(f"baseline/{name(1)}", 16)]


def test_a_compilation_whose_key_changes_exists_once(graph, runs, write):
    write("baseline/f/vm_1")
    assert ingest(graph, runs).added == (f"baseline/{name(1)}",)
    second = write("baseline/f/vm_2", 1, dump_text(8))
    summary = ingest(graph, runs)
    assert summary.added == (f"baseline/f/vm_1/{name(1)}", f"baseline/f/vm_2/{name(1)}")
    assert (summary.moved, summary.gone) == ((f"baseline/{name(1)}",), ())
    assert compilations(graph) == [
        (f"baseline/f/vm_1/{name(1)}", 16),
        (f"baseline/f/vm_2/{name(1)}", 8),
    ]
    second.unlink()
    summary = ingest(graph, runs)
    assert summary.added == (f"baseline/{name(1)}",)
    assert summary.moved == (f"baseline/f/vm_1/{name(1)}",)
    assert summary.gone == (f"baseline/f/vm_2/{name(1)}",)


def test_a_single_file_does_not_affect_the_others(graph, runs, write):
    write("baseline", 1)
    two = write("baseline", 2)
    ingest(graph, runs)
    two.write_text(dump_text(8))
    summary = ingest(graph, two, IngestOptions(replace=True))
    assert (summary.updated, summary.gone, summary.dropped) == ((f"baseline/{name(2)}",), (), ())


def test_another_folder_of_the_same_name_and_other_content_is_refused(graph, runs, write, tmp_path):
    write("baseline")
    ingest(graph, runs)
    write("../other/baseline", 1, dump_text(8))
    write("../other/baseline", 2)
    write("../other/fresh")
    summary = ingest(graph, tmp_path / "other")
    assert not summary.ok
    (message,) = messages(summary)
    assert message == (
        f"{tmp_path / 'other/baseline'}: the run baseline exists already, from "
        f"{runs / 'baseline'}, with other content of {name(1)}; give this one another name "
        "(option `run`), or replace the stored run (option `replace`)"
    )
    assert compilations(graph) == [(f"baseline/{name(1)}", 16), (f"fresh/{name(1)}", 16)]


def test_another_folder_may_replace_a_run(graph, runs, write, tmp_path):
    write("baseline", 1)
    write("baseline", 2)
    ingest(graph, runs)
    write("../other/baseline", 1, dump_text(8))
    summary = ingest(graph, tmp_path / "other", IngestOptions(replace=True))
    assert summary.ok
    assert summary.dropped == (f"baseline/{name(2)}",)
    assert compilations(graph) == [(f"baseline/{name(1)}", 8)]
    (row,) = graph.query("MATCH (r:Run) RETURN r.path AS path").rows
    assert row == (str(tmp_path / "other/baseline"),)


def test_a_folder_of_equal_content_may_replace_a_run(graph, runs, write, tmp_path):
    write("baseline", 1)
    write("baseline", 2)
    ingest(graph, runs)
    changed = write("../other/baseline", 1)
    write("../other/baseline", 2)
    summary = ingest(graph, tmp_path / "other", IngestOptions(replace=True))
    assert summary.updated == (f"baseline/{name(1)}", f"baseline/{name(2)}")
    paths = graph.query(
        "MATCH (r:Run)-[:COMPILED]->(c:Compilation) RETURN DISTINCT r.path AS run, c.path AS own"
    ).rows
    assert paths == ((str(tmp_path / "other/baseline"),) * 2,)
    changed.write_text(dump_text(8))
    for replace in (False, True):
        summary = ingest(graph, tmp_path / "other", IngestOptions(replace=replace))
        assert (summary.ok, len(summary.updated)) == (True, 0 if replace else 1)
    assert not ingest(graph, [runs / "baseline"]).ok


def test_another_folder_with_more_content_is_refused_unless_it_joins_the_run(
    graph, runs, write, tmp_path
):
    write("baseline", 1)
    ingest(graph, runs)
    write("../other/baseline", 1)
    write("../other/baseline", 2, dump_text(8))
    (message,) = messages(ingest(graph, tmp_path / "other"))
    assert message == (
        f"{tmp_path / 'other/baseline'}: has more dumps than the run baseline, which "
        f"exists already, from {runs / 'baseline'}: {name(2)}; give option `run` "
        "this name to add them, or another name to keep both runs, or option `replace` to replace "
        "the stored run"
    )
    summary = ingest(graph, tmp_path / "other" / "baseline", IngestOptions(run="baseline"))
    assert summary.ok
    (message,) = messages(summary)
    assert message == (
        f"{tmp_path / 'other/baseline'}: is added to the run baseline, which exists already, from "
        f"{runs / 'baseline'}"
    )
    assert (summary.added, summary.unchanged) == (
        (f"baseline/{name(2)}",),
        (f"baseline/{name(1)}",),
    )


def test_another_folder_of_the_same_name_with_nothing_in_common_is_refused(
    graph, runs, write, tmp_path
):
    write("baseline", 1)
    ingest(graph, runs)
    write("../other/baseline", 2)
    assert not ingest(graph, tmp_path / "other").ok
    assert ingest(graph, tmp_path / "other" / "baseline", IngestOptions(run="baseline")).ok
    assert [key for key, _ in compilations(graph)] == [f"baseline/{name(n)}" for n in (1, 2)]


def test_a_run_joined_by_several_hosts_knows_the_folder_of_each_compilation(
    graph, runs, write, tmp_path
):
    other = tmp_path / "other" / "baseline"
    write("baseline", 1)
    write("../other/baseline", 2)
    ingest(graph, runs)
    ingest(graph, other, IngestOptions(run="baseline"))
    (paths,) = graph.query(
        "MATCH (r:Run)-[:COMPILED]->(c:Compilation) WITH r, c.path AS path ORDER BY path LIMIT 9 "
        "RETURN r.path AS first, collect(path) AS paths"
    ).rows
    assert (paths[0], set(paths[1])) == (
        str(runs / "baseline"),
        {str(runs / "baseline"), str(other)},
    )
    # each folder is known: neither must join again, nor misses compilations of the other
    write("../other/baseline", 3)
    for folder in (runs, tmp_path / "other"):
        summary = ingest(graph, folder)
        assert (summary.ok, summary.gone, summary.problems) == (True, (), ())
    (other / f"{name(2)}-buffer-assignment.txt").unlink()
    assert ingest(graph, tmp_path / "other").gone == (f"baseline/{name(2)}",)


def test_two_folders_of_one_name_in_one_ingest_are_not_mixed(graph, runs, write, tmp_path):
    write("baseline")
    write("../other/baseline", 1, dump_text(8))
    summary = ingest(graph, [runs, tmp_path / "other"])
    assert not summary.ok
    assert [problem.file for problem in summary.problems] == [str(tmp_path / "other/baseline")]
    assert compilations(graph) == [(f"baseline/{name(1)}", 16)]


def test_a_repeated_folder_counts_once(graph, runs, write):
    write("baseline")
    summary = ingest(graph, [runs, runs / "baseline", runs / "../runs"])
    assert (summary.ok, summary.added) == (True, (f"baseline/{name(1)}",))


def test_a_run_can_be_named(graph, runs, write):
    write("baseline")
    assert ingest(graph, runs, IngestOptions(run="mine")).added == (f"mine/{name(1)}",)


def test_tags_are_kept_and_merged_by_name(graph, runs, write):
    write("baseline")
    ingest(graph, runs, IngestOptions(tags=["commit=abc", "device=v5e"]))
    assert tags(graph) == [(["commit=abc", "device=v5e"],)]
    ingest(graph, runs, IngestOptions(tags=["commit=def"]))
    assert tags(graph) == [(["commit=def", "device=v5e"],)]
    write("baseline", 2)
    ingest(graph, runs)
    assert tags(graph) == [(["commit=def", "device=v5e"],)]


def test_a_tag_needs_a_name_and_a_value(graph, runs):
    with pytest.raises(ValueError, match=r"expected a tag `name=value`, found 'commit'"):
        ingest(graph, runs, IngestOptions(tags=["commit"]))


def test_a_dry_run_reports_everything_and_writes_nothing(graph, runs, write):
    write("baseline", 1)
    write("baseline", 2, "BufferAssignment:\nnonsense\n")
    for target in (None, graph):
        summary = ingest(target, runs, IngestOptions(dry_run=True))
        assert (summary.dry_run, summary.added) == (True, (f"baseline/{name(1)}",))
        assert len(summary.problems) == 1
    assert not Path(graph.location).exists()


def test_nothing_to_ingest_is_not_ok(graph, runs):
    (runs / "readme.txt").write_text("hello")
    summary = ingest(graph, runs)
    assert (summary.ok, summary.problems) == (False, ())
    assert not ingest(graph, runs / "nowhere").ok
    assert not Path(graph.location).exists()

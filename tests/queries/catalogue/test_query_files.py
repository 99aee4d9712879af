"""Query files are checked when they are read, with messages that explain the correction."""

from dataclasses import replace
from pathlib import Path

import pytest

from xlagraph.queries import CatalogueError, LiteralType, check_queries, load_catalogue
from xlagraph.queries.catalogue import query_files
from xlagraph.queries.catalogue.query_check import query_faults
from xlagraph.queries.catalogue.query_files import OWN_DIRECTORY, Query, read_query

GOOD = """\
// Values of one compilation
// @kind     table
// @answers  What is there?
// @param    compilation STRING        key of a compilation,
//           or a unique part of it
// @param    runA        STRING = 'x'  a run
// @param    limit       INTEGER = 20  rows to return
// @column   value       STRING        its label
// @column   sizeBytes   INTEGER       its size
// @measure  assigned
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
WHERE $runA <> ''
RETURN v.label AS value, v.sizeBytes AS sizeBytes
ORDER BY sizeBytes DESC, value
LIMIT $limit
"""  # noqa: E501  the header is 11 lines, the statement begins in line 12
LINES = len(GOOD.splitlines())


def write(directory: Path, text: str, name: str = "mine/values.cypher") -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def problems(directory: Path, old: str = "", new: str = "") -> list[str]:
    """Check the good file with one change; return `LINE: message`."""
    assert old in GOOD
    path = write(directory, GOOD.replace(old, new, 1))
    return [problem.removeprefix(f"{path}:") for problem in check_queries(directory)]


def test_the_canned_queries_have_no_problem():
    assert check_queries(OWN_DIRECTORY) == []


def test_the_catalogue_has_every_query_in_order_of_id():
    ids = list(load_catalogue())
    assert ids == sorted(ids)
    assert "peak/contributors" in ids


def test_the_header_declares_parameters_and_columns(tmp_path: Path):
    write(tmp_path, GOOD)
    query = load_catalogue([tmp_path])["mine/values"]
    assert query.title == "Values of one compilation"
    assert query.answers == "What is there?"
    compilation, run_a, limit = query.parameters
    assert compilation.description == "key of a compilation, or a unique part of it"
    assert compilation.required
    assert (run_a.default, run_a.option) == ("x", "run-a")
    assert (limit.type, limit.default, limit.required) == (LiteralType.INTEGER, 20, False)
    assert [(column.name, column.is_bytes) for column in query.columns] == [
        ("value", False),
        ("sizeBytes", True),
    ]
    assert query.text == GOOD


def test_a_good_file_has_no_problem(tmp_path: Path):
    assert problems(tmp_path) == []


def test_advice_names_a_column_and_a_remedy_for_each_framework(tmp_path: Path):
    advice = (
        "// @column   memorySpace INTEGER its number\n"
        "// @advice   sizeBytes physical  Large values are live at the peak\n"
        "// @remedy   jax         recompute it\n"
        "// @remedy   tensorflow  recompute it\n"
    )
    rest = GOOD[GOOD.index("// @status") :]
    in_space = rest.replace("AS sizeBytes\n", "AS sizeBytes, v.memorySpace AS memorySpace\n")
    (problem,) = problems(tmp_path, rest, advice + in_space)
    assert problem == ("12: advice without a fix for pytorch; add '// @remedy pytorch …'")
    whole = advice + "// @remedy   pytorch     checkpoint it\n" + in_space
    assert problems(tmp_path, rest, whole) == []
    query = load_catalogue([tmp_path])["mine/values"]
    assert query.advice is not None
    assert query.advice.column == "sizeBytes"
    assert query.advice.remedies["pytorch"] == "checkpoint it"
    (problem,) = problems(tmp_path, "// @status", whole.replace("sizeBytes", "value"))
    assert "'value' is not a @column that counts bytes" in problem


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("// Values of one compilation", "MATCH (n)", "1: expected a title"),
        ("// @answers  What is there?\n", "", "1: no @answers; add a line '// @answers …'"),
        ("// @status   stable\n", "", "1: no @status"),
        ("@kind     table", "@kind     tree", "2: expected @kind table, series or graph, found"),
        ("@kind     table", "@kind     graph", "8: columns are PATH if @kind is graph, and only"),
        ("STRING        its label", "PATH its label", "8: columns are PATH if @kind is graph"),
        ("@measure  assigned", "@measure  big", "10: expected one of reserved,"),
        ("@answers", "@question", "3: expected one of @kind, @answers,"),
        (
            "INTEGER = 20",
            "INTEGER = many",
            "7: the default many is not of type INTEGER; write e.g. 20",
        ),
        (
            "STRING = 'x'",
            "STRING = x",
            "6: the default x is not of type STRING; write e.g. 'fusion.7'",
        ),
        ("INTEGER = 20", "NUMBER = 20", "7: expected a type, one of STRING, INTEGER,"),
        ("// @status", "// @bounds   limit 1..9\n// @status", "11: the default 20 is above 9;"),
        ("// @status", "// @bounds   name 1..\n// @status", "11: 'name' is not an INTEGER @param"),
        ("// @status", "// @bounds   limit 1-9\n// @status", "11: expected a line like '@bounds"),
        ("STRING        its label", "STRING", "8: expected a line like '@column value STRING"),
        ("// @column   sizeBytes", "// @column   value", "9: @column value is given twice"),
        ("// @status", "// @kind     table\n// @status", "11: @kind is given twice"),
    ],
)
def test_a_header_problem_names_line_and_remedy(tmp_path: Path, old: str, new: str, expected: str):
    (problem,) = problems(tmp_path, old, new)
    assert problem.startswith(expected)
    with pytest.raises(CatalogueError) as error:
        load_catalogue([tmp_path])
    assert str(error.value).endswith(problem)


def test_a_partial_statement_has_problems_with_their_lines(tmp_path: Path):
    assert problems(tmp_path) == []
    query = load_catalogue([tmp_path])["mine/values"]
    start = query.text.index("\nMATCH") + 1
    for end in range(start, len(query.text) - len("LIMIT $limit\n")):
        faults = query_faults(replace(query, text=query.text[:end]))
        assert faults
        assert all(fault.line <= query.text.count("\n") for fault in faults)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("LIMIT $limit", "LIMIT $top", "16: $top is not declared; add '// @param top TYPE …'"),
        ("$runA <> ''", "v.sizeBytes > 0", "6: @param runA is not used; drop the line"),
        (
            "v.sizeBytes AS sizeBytes\n",
            "v.liveFrom AS liveFrom\n",
            '9: @column sizeBytes is not returned; add "… AS sizeBytes" or drop the line',
        ),
        ("DESC, value", "DESC", "16: the order of rows that are equal in ORDER BY"),
        ("ORDER BY sizeBytes DESC, value\n", "", "15: LIMIT without ORDER BY"),
        ("$runA <> ''", "v.size <> $runA", "13: the schema has no property size of Value"),
        (":HOLDS", ":HOLD", "12: the schema has no relationship type HOLD"),
        ("v:Value", "v:Buffer", "12: the schema has no label Buffer"),
        (
            ", state: 'complete'",
            "",
            "12: sees compilations that are still being loaded",
        ),
        ("WHERE $runA <> ''", "SET v.label = $runA", "13: SET writes or accesses other data"),
        ("RETURN v.label", "CALL { RETURN 1 }\nRETURN v.label", "14: CALL is not in both engines"),
        ("$runA <> ''", "$runA IS NULL", "13: $runA IS NULL fails on the embedded engine"),
        ("$runA <> ''", "v:Value AND $runA <> ''", "13: put the label into the MATCH"),
        ("$runA <> ''", "0 < v.sizeBytes < 9 AND $runA <> ''", "13: write a < x AND x < b"),
        ("$runA <> ''", "toString(v.sizeBytes) <> $runA", "13: toString() differs"),
        ("$runA <> ''", "EXISTS { (v)-[:USED_BY]->() }", "13: write MATCH in EXISTS { MATCH … }"),
        ("-[:HOLDS]->(v:Value)", ", (a)-[:HOLDS]->(v:Value)", "12: one pattern for each MATCH"),
        ("[:HOLDS]->", "[:HOLDS|REUSES*]->", "12: write the hops as *1..k, k at most 30"),
        ("[:HOLDS]->", "[:HOLDS|REUSES*1..40]->", "12: write the hops as *1..k"),
        ("v:Value", "v:Value:Allocation", "12: :Value:Allocation means both labels in one engine"),
        ("v.label AS value", "collect(v.label)[0] AS value", "14: list indices count from 0 or 1"),
        ("v.label AS value", "v.label", "14: give v.label a name"),
        ("AS value,", "AS v,", "14: 'v' is a variable too; rename one of them"),
        ("AS value,", "AS end,", "14: 'end' is a reserved word"),
        ("LIMIT $limit", "LIMIT $limit; RETURN 1", "16: a second statement follows ';'"),
        (
            "WHERE $runA <> ''",
            "WITH v ORDER BY v.label\nWHERE $runA <> ''",
            "13: WITH … ORDER BY goes with LIMIT",
        ),
        ("$runA <> ''", "v.key IN $runA", "13: keys are looked up by UNWIND $runA AS k MATCH"),
    ],
)
def test_a_statement_problem_names_line_and_remedy(
    tmp_path: Path, old: str, new: str, expected: str
):
    assert any(problem.startswith(expected) for problem in problems(tmp_path, old, new))


def test_keywords_inside_strings_and_comments_are_no_problem(tmp_path: Path):
    harmless = "$runA <> 'CREATE (n) SET' // CALL { } DELETE\n"
    assert problems(tmp_path, "$runA <> ''\n", harmless) == []


def test_a_group_is_sorted_by_all_its_names_or_by_something_unique(tmp_path: Path):
    body = "v.label AS value, v.sizeBytes AS sizeBytes\nORDER BY sizeBytes DESC, value"
    grouped = "v.opName AS value, sum(v.sizeBytes) AS sizeBytes\nORDER BY sizeBytes DESC"
    (problem,) = problems(tmp_path, body, grouped)
    assert problem.endswith("end it in all of value")
    assert problems(tmp_path, body, f"{grouped}, value") == []


def test_a_file_outside_a_theme_is_refused_with_the_right_place(tmp_path: Path):
    path = write(tmp_path, GOOD, "values.cypher")
    (problem,) = check_queries(tmp_path)
    assert problem.startswith(
        f"{path}:1: 'values' is not an id; move the file to theme/noun-phrase"
    )


def test_an_id_that_already_exists_is_refused(tmp_path: Path):
    path = write(tmp_path, GOOD, "peak/contributors.cypher")
    assert check_queries(tmp_path) == [
        f"{path}:1: peak/contributors is already part of xlagraph; rename this file"
    ]
    with pytest.raises(
        CatalogueError, match=r"peak/contributors already exists in .*; rename this file"
    ):
        load_catalogue([tmp_path])


def test_a_folder_without_queries_is_a_problem(tmp_path: Path):
    (problem,) = check_queries(tmp_path)
    assert problem.endswith("contains no query; add one at theme/noun-phrase.cypher")
    with pytest.raises(CatalogueError, match="no such folder"):
        load_catalogue([tmp_path / "absent"])


def test_a_query_is_read_when_it_is_asked_for(monkeypatch):
    read = []

    def note(path: Path, directory: Path) -> Query:
        read.append(path.stem)
        return read_query(path, directory)

    monkeypatch.setattr(query_files, "read_query", note)
    query_files._own_queries.cache_clear()
    catalogue = load_catalogue()
    assert "overview/roles" in catalogue
    assert len(catalogue) == len(list(catalogue))
    assert read == []
    assert catalogue["overview/roles"] is catalogue["overview/roles"]
    assert read == ["roles"]


def test_the_header_says_which_columns_are_shown_first(tmp_path: Path):
    kept = "// @measure  assigned"
    write(tmp_path, GOOD.replace(kept, f"// @shown    sizeBytes … value\n{kept}"))
    assert load_catalogue([tmp_path])["mine/values"].shown == ("sizeBytes", "…", "value")
    assert problems(tmp_path, kept, f"// @shown    size\n{kept}") == [
        "10: 'size' is not a @column; name one that is"
    ]

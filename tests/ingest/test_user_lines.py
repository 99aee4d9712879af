"""The choice of whose code a line is: which files it covers, and the lines that follow from it."""

import pytest

from tests.tiny_dumps import tiny_dump
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest
from xlagraph.ingest.user_lines import CodeOwners, read_code_owners, with_user_lines

PACKAGES = "/venv/lib/python3.12/site-packages"
MODULE = f"""HloModule m

FileNames
1 "/me/train.py"
2 "/src/flax/flax/linear.py"
3 "{PACKAGES}/my_models/layer.py"
4 "{PACKAGES}/jax/numpy.py"

FunctionNames
1 "step"

FileLocations
1 {{file_name_id=1 function_name_id=1 line=20 column=4}}
2 {{file_name_id=2 function_name_id=1 line=7 column=4}}
3 {{file_name_id=3 function_name_id=1 line=3 column=4}}
4 {{file_name_id=4 function_name_id=1 line=9 column=4}}

StackFrames
1 {{file_location_id=1 parent_frame_id=1}}
2 {{file_location_id=2 parent_frame_id=2}}
3 {{file_location_id=3 parent_frame_id=2}}
4 {{file_location_id=4 parent_frame_id=4}}

ENTRY %main () -> s8[9] {{
  %a = s8[9]{{0}} iota(), iota_dimension=0, metadata={{op_name="jit(f)/a" stack_frame_id=3}}
  ROOT %b = s8[9]{{0}} sine(%a), metadata={{op_name="jit(f)/b" stack_frame_id=4}}
}}
"""


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    """Return a graph: a is of a checkout that train.py calls, b of a model in a package."""
    folder = tmp_path_factory.mktemp("lines")
    runs = folder / "runs"
    runs.mkdir()
    (runs / "m-buffer-assignment.txt").write_text(
        tiny_dump(
            "0 | 18 | preallocated-temp",
            """
            0 | a | s8[9]{0} | 0 | 9 | 0-1 | iota()  | jit(f)/a @ frame 2
            0 | b | s8[9]{0} | 9 | 9 | 1-2 | sine(a) | jit(f)/b @ frame 4
            """,
        )
    )
    (runs / "m.txt").write_text(MODULE)
    (runs / "n-buffer-assignment.txt").write_text(
        tiny_dump(
            "0 | 9 | preallocated-temp",
            f"0 | c | s8[9]{{0}} | 0 | 9 | 0-1 | iota() | jit(f)/c @ {PACKAGES}/my_models/c.py:5",
        )
    )
    with open_graph(folder / "lines.lbug", create=True) as opened:
        assert ingest(opened, runs, jobs=1).ok
        yield opened


def lines(graph, owners):
    statement = (
        "MATCH (v:Value) RETURN v.label AS value, v.userFile AS file, v.userLine AS line"
        " ORDER BY value"
    )
    with with_user_lines(graph, owners) as chosen:
        return {value: (file, line) for value, file, line in chosen.query(statement).rows}


def test_an_installed_package_is_a_library_and_a_checkout_is_not(graph):
    assert lines(graph, CodeOwners()) == {
        "a": ("/src/flax/flax/linear.py", 7),
        "b": ("/me/train.py", 20),
        "c": (None, None),
    }


def test_a_checkout_can_be_a_library_and_an_installed_model_your_code(graph):
    owners = CodeOwners(own=("my_models",), library=("flax",))
    assert lines(graph, owners) == {
        "a": ("/me/train.py", 20),
        "b": (f"{PACKAGES}/my_models/layer.py", 3),
        "c": (f"{PACKAGES}/my_models/c.py", 5),
    }
    assert lines(graph, CodeOwners())["a"] == ("/src/flax/flax/linear.py", 7), "graph unchanged"


@pytest.mark.parametrize(
    ("choice", "file", "fits"),
    [
        ("flax", "/src/flax/linen/linear.py", True),
        ("flax.linen", "/src/flax/linen/linear.py", True),
        ("flax.nnx", "/src/flax/linen/linear.py", False),
        ("six", "/src/six.py", True),
        ("src/models", "/home/me/src/models/gpt.py", True),
        ("/home/me/src", "/home/me/src/models/gpt.py", True),
        ("/home/me/sr", "/home/me/src/models/gpt.py", False),
        ("gpt.py", "/home/me/src/models/gpt.py", True),
        ("models", "/home/me/my_models/gpt.py", False),
    ],
)
def test_a_package_or_a_path_covers_whole_parts_of_a_file_name(choice, file, fits):
    assert CodeOwners(library=(choice,)).is_library(file) is fits


def test_the_longest_choice_decides():
    owners = CodeOwners(own=("flax.linen",), library=("flax",))
    assert not owners.is_library("/src/flax/linen/linear.py")
    assert owners.is_library("/src/flax/nnx/module.py")


def test_the_file_of_a_project_makes_the_choice(tmp_path):
    file = tmp_path / "xlagraph.toml"
    file.write_text('[lines]\nown = ["my_models"]\n[categories]\nring = ["kv"]\n')
    assert read_code_owners(file) == CodeOwners(own=("my_models",))
    file.write_text('[lines]\nmine = ["my_models"]\n')
    with pytest.raises(ValueError, match="toml: expected packages or paths"):
        read_code_owners(file)

import pytest

from xlagraph.comparison.call_sites import CallSite, CallSites, of_one_folder
from xlagraph.hlo.metadata import StackFrame

from .test_edited_lines import told

LIBRARY = "/venv/lib/python3.12/site-packages/layers/core.py"


def sites_in(folder, *files, cut="main.py"):
    """Return the call sites of a program that calls each file from `main.py`."""
    main = StackFrame("main", f"{folder}/main.py", 1, 0, None)
    known = {
        CallSite("jit(main)/add", "", (main, StackFrame("f", file, 2, 0, None))) for file in files
    }
    return CallSites(known, set(), {(f"{folder}/{cut}", "f")})


@pytest.mark.parametrize(("before", "after"), [("/a", "/b/c"), ("a", "/b"), ("a/b", "a/c")])
def test_the_files_of_two_checkouts_are_named_from_the_folder_of_each(before, after):
    a = sites_in(before, f"{before}/models/net.py", LIBRARY)
    b = sites_in(after, f"{after}/models/net.py", LIBRARY)
    of_a, of_b = of_one_folder(a, b)
    assert of_a == of_b
    files = {frame.file for site in of_a.known for frame in site.frames}
    assert files == {"main.py", "models/net.py", LIBRARY}
    assert of_a.cut == {("main.py", "f")}


def test_files_keep_their_paths_if_both_programs_have_one():
    a, b = sites_in("/a", "/a/net.py"), sites_in("/a", "/lib/net.py")
    assert of_one_folder(a, b) == (a, b)
    mixed = sites_in("/b", "net.py")
    assert of_one_folder(a, mixed) == (a, mixed)
    nothing = CallSites(set(), set())
    assert of_one_folder(a, nothing) == (a, nothing)


def test_what_a_line_calls_is_not_gone_if_the_other_program_calls_it_in_unknown_places():
    wrapper = "Table.__call__:5!"
    before = ["step:9 tanh", f"step:10 {wrapper} take:6! jit(_take)/gather"]
    # two calls of one compiled function, whose stack is that of the first one
    after = [
        "step:9 tanh",
        f"step:10 {wrapper} take:6! jit(_take)/gather",
        f"step:10 {wrapper} take:6! while/body/jit(_take)/gather",
        "step:12 sin",
    ]
    assert told(before, after) == ["train.py:12 (step): sin new"]


def test_a_call_that_another_function_makes_is_moved():
    before = ["step:9 Net.__call__:5! tanh", "step:10 loss:3 exp", "step:12 Net.__call__:5! tanh"]
    after = ["step:10 loss:3 exp", "step:10 loss:4 Net.__call__:5! tanh", before[-1]]
    assert told(before, after) == ["train.py:9 (step): Net moved to train.py:4 (loss)"]
    assert told(after, before) == ["train.py:9 (step): Net moved from train.py:4 (loss)"]
    both = [*before, after[1]]
    assert told(before, both) == ["train.py:4 (loss): Net new"]


def test_parts_that_other_lines_take_too_are_no_edit():
    before = ["step:9 loss:3 exp", "step:9 loss:4 slice", "step:9 loss:5 tanh"]
    assert told(before, [*before, "step:9 loss:5 slice"]) == []

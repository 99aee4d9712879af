import pytest

from xlagraph.comparison.call_sites import CallSite, CallSites, with_common_files
from xlagraph.comparison.edited_lines import name_edited_lines
from xlagraph.comparison.held_values import Reserved
from xlagraph.comparison.reason_texts import reason_text
from xlagraph.comparison.reasons import FoundReasons
from xlagraph.hlo.metadata import StackFrame, names_in_checkouts

from .test_edited_lines import Module, told

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
    of_a, of_b = with_common_files(a, b)
    assert of_a == of_b
    files = {frame.file for site in of_a.known for frame in site.frames}
    assert files == {"main.py", "models/net.py", LIBRARY}
    assert of_a.cut == {("main.py", "f")}


def test_files_keep_their_paths_if_both_programs_have_one():
    a, b = sites_in("/a", "/a/net.py"), sites_in("/a", "/lib/net.py", "/lib/more.py")
    assert with_common_files(a, b) == (a, b)
    mixed = sites_in("/b", "net.py")
    assert with_common_files(a, mixed) == (a, mixed)
    nothing = CallSites(set(), set())
    assert with_common_files(a, nothing) == (a, nothing)


def test_modules_of_one_program_are_no_checkouts():
    assert names_in_checkouts({"/x/models/net.py"}, {"/x/train.py", "/x/net.py"}) == {}
    assert names_in_checkouts({"/x/old.py"}, {"/x/new.py"}) == {}
    assert names_in_checkouts({"/x/a/net.py"}, {"/x/b/net.py", LIBRARY}) == {
        "/x/a/net.py": "net.py",
        "/x/b/net.py": "net.py",
    }


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


class CopyOfModule(Module):
    """The call sites of a module whose file has another name."""

    @property
    def call_sites(self):
        sites = super().call_sites
        in_copy = {
            site._replace(
                frames=tuple(
                    frame._replace(file=frame.file.replace("train.py", "train_2.py"))
                    for frame in site.frames
                )
            )
            for site in sites.known
        }
        return sites._replace(known=in_copy)


def told_of_copy(before, after):
    found = FoundReasons()
    sides = Reserved((), mentions=Module(*before)), Reserved((), mentions=CopyOfModule(*after))
    name_edited_lines(sides, found)
    return [reason_text(each, ("a", "b")) for each in found.found.values()]


def test_the_lines_of_a_copied_file_are_those_of_the_copy():
    before = ["step:9 net:2 tanh", "step:10 loss:4 exp"]
    assert told_of_copy(before, before) == []
    after = ["step:9 net:2 tanh", "step:9 net:3 sin", "step:11 loss:5 exp"]
    assert told_of_copy(before, after) == ["train_2.py:3 (net): sin new"]
    # it is in no line of the copy
    assert told_of_copy(after, before) == ["train_2.py (net): sin gone"]


def test_a_file_of_other_functions_is_no_copy():
    before = ["step:9 net:2 tanh", "step:9 block:3 exp"]
    assert told_of_copy(before, ["step:9 layer:2 tanh", "step:9 other:3 sin"]) == []


def test_a_copy_may_be_in_another_folder():
    a, b = sites_in("/a", "/a/net.py"), sites_in("/b", "/b/other.py", LIBRARY)
    of_a, of_b = with_common_files(a, b)
    assert (of_a.copied, of_b.copied) == ("other.py", None)
    assert of_a.known < of_b.known

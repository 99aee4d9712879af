"""Every real dump and every sample renders back to the same bytes."""

from tests.ingest.carriers.text.sample_dumps import SAMPLES, SUFFIXES, paths_of
from xlagraph.ingest.carriers.text.parser import parse_plan
from xlagraph.ingest.carriers.text.render import render_plan
from xlagraph.ingest.carriers.text.text import DumpPart

SUFFIX = SUFFIXES[0]


def assert_every_dump_comes_back(folder, pattern):
    paths = sorted(folder.rglob(pattern))
    assert paths
    for path in paths:
        files = paths_of(path)
        texts = tuple(each.read_bytes().decode() for each in files)
        parts = [DumpPart(str(each), text) for each, text in zip(files, texts, strict=True)]
        assert render_plan(parse_plan(parts)) == texts, path


def test_every_sample_renders_back_unchanged():
    assert_every_dump_comes_back(SAMPLES, f"*{SUFFIX}")


def test_every_dump_of_the_corpus_renders_back_unchanged(corpus):
    assert_every_dump_comes_back(corpus, f"*{SUFFIX}")


def test_every_shared_dump_renders_back_unchanged(shared_dumps):
    for name in ("big", "runs"):
        assert_every_dump_comes_back(shared_dumps / name, f"*{SUFFIX}")


def test_every_seed_renders_back_unchanged(shared_dumps):
    assert_every_dump_comes_back(shared_dumps / "seeds", "*.txt")

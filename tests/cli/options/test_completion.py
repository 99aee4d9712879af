"""The shell completes ids of queries, options, runs and compilations."""


def test_the_shell_completes_ids_options_runs_and_compilations(complete, graph):
    key = "before/module_0001.jit_f.cpu_after_optimizations"
    for words, offered in (
        (("xlagraph", "query", "peak/con"), ["peak/contributors"]),
        (("xlagraph", "query", "peak/by-op", "--mem"), ["--memory-space"]),
        (("xlagraph", "query", "peak/by-op", "--compilation", "before/module_0001"), [key]),
        (("xlagraph", "query", "compare/modules", "--run-a", "be"), ["before"]),
        (("xlagraph", "compare", "before/module_0001"), [key]),
        (("xlagraph", "compilations", "a"), ["after"]),
    ):
        assert complete(words) == offered


def test_the_shell_completes_nothing_where_there_is_no_graph(complete):
    words = ("xlagraph", "query", "peak/by-op", "--compilation", "b")
    assert complete(words) == []

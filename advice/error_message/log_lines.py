"""Strips colours, logger prefixes and JSON escapes from the lines of a log."""

import re
from collections.abc import Iterator
from typing import Final

# \x1b[36m; the escape character itself is lost where a log was pasted
_COLOUR: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\[\d{1,2}(?:;\d{1,3})*m")
_PREFIXES: Final = (
    # 2026-01-02 03:04:05.678901: W xla/tsl/framework/bfc_allocator.cc:501]
    re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,]?\d*:? [A-Z] +(?:\d+ +)?\S+:\d+\] ?"),
    # E0102 03:04:05.678901   12345 pjrt_stream_executor_client.cc:3000]
    re.compile(r"[IWEF]\d{4} \d\d:\d\d:[\d.]+ +\d+ \S+:\d+\] ?"),
    # 2026-01-02T03:04:05.678Z, [2026-01-02 03:04:05,678]
    re.compile(r"\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]? ?"),
    # (Worker pid=489, ip=10.0.0.1), (pid=489)
    re.compile(r"\([^()]{0,100}\bpid=[^()]{0,100}\) ?"),
    # [rank0]:, [1,2]<stderr>:, 12:
    re.compile(r"\[\d+,\d+\]<\w+>:|(?:\[\w+\]|\d+):(?: |$)"),
    # ERROR:root:, [ERROR]
    re.compile(r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)(?::[\w.]*:|:)? "),
)
# … [repeated 7x across cluster]
_SUFFIX: Final = re.compile(r"(?<!\s)\s*\[repeated \d+x across cluster\]$")
# the line break of a message that is a string in JSON, or in the repr of an exception
_ESCAPED_BREAK: Final = re.compile(r"(?<!\\)(?P<slashes>\\+)n")
# fields of a list that stand on one line, where the line breaks were lost
_JOINED: Final = re.compile(
    r"(?<=\S)(?<!\d\.)\s+(?=\d+\. Size: |Buffer \d+:|Size: |Operator: |Shape: |Unpadded size: "
    r"|Extra memory due to |XLA [Ll]abel: |Allocation type: |Tag: |={10,}"
    r"|Largest program allocations in|Program \w+ requirement |Total \w+ usage >= )"
)


def plain_lines(line: str) -> Iterator[str]:
    """Yield the lines of text that a line of a log carries."""
    if "[" in line:
        line = _COLOUR.sub("", line)
    for text in _unescape(line).split("\n"):
        bare = _without_prefixes(text.rstrip("\r\n"))
        yield from _JOINED.split(bare)


def _unescape(line: str) -> str:
    first = _ESCAPED_BREAK.search(line)
    if first is None:
        return line
    slashes = first["slashes"]
    # Plain quotes around an op name with an escaped break: XLA's own text, not escaped once more.
    if len(slashes) == 1 and '\\"' not in line and 'op_name="' in line[: first.start()]:
        return line
    # escaped once more, a break has twice the slashes, and a quote twice and one
    quote = "\\" * (2 * len(slashes) - 1)
    for escape, text in ((f"{slashes}n", "\n"), (f"{slashes}t", "\t"), (f'{quote}"', '"')):
        line = re.sub(rf"(?<!\\){re.escape(escape)}", text, line)
    return line


def _without_prefixes(text: str) -> str:
    found = True
    while found:
        found = False
        for prefix in _PREFIXES:
            if match := prefix.match(text):
                text, found = text[match.end() :], True
    return _SUFFIX.sub("", text) if text.endswith("cluster]") else text

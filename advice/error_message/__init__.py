"""Read out-of-memory messages of XLA, PyTorch/XLA and TensorFlow, and explain them."""

from xlagraph.advice.error_message.explanation import Explanation, Unknown, explain
from xlagraph.advice.error_message.failure import (
    BreakdownPart,
    Failure,
    LargeAllocation,
    Stage,
    TracebackLine,
)
from xlagraph.advice.error_message.largest_lines import LineShare, largest_lines
from xlagraph.advice.error_message.log_reader import ErrorLog, open_log, read_error_log

__all__ = [
    "BreakdownPart",
    "ErrorLog",
    "Explanation",
    "Failure",
    "LargeAllocation",
    "LineShare",
    "Stage",
    "TracebackLine",
    "Unknown",
    "explain",
    "largest_lines",
    "open_log",
    "read_error_log",
]

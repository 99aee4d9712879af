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
from xlagraph.advice.error_message.log_reader import ErrorLog, decoded_lines, read_error_log

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
    "decoded_lines",
    "explain",
    "largest_lines",
    "read_error_log",
]

"""Speed and memory of xlagraph, against references measured in the same run."""

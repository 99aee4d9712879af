"""The samples of the generations, by name."""

from pathlib import Path

SAMPLES = Path(__file__).parent / "samples"


def sample(name):
    return (SAMPLES / f"{name}-buffer-assignment.txt").read_text("utf-8")


NEW = sample("jaxlib-0.9.2")
GLUED = sample("jaxlib-0.4.30")
LOGICAL = sample("tensorflow-1.14")
MULTI_LINE = sample("tensorflow-1.15")
UNSAID = sample("tensorflow-2.1")

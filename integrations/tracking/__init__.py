"""Memory plans in experiment trackers: Weights & Biases, MLflow, TensorBoard and others.

`log_to` passes the numbers of a plan to any object with a method `log`, and a folder with report
and graph to its `log_artifact`, if it has one. `memory_scalars` returns the numbers.
"""

from xlagraph.tracking.trackers import Tracker, log_to, memory_scalars

__all__ = ["Tracker", "log_to", "memory_scalars"]

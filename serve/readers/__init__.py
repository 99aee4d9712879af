"""Processes that read the graph for the service: their jobs, answers and limits."""

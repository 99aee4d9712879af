"""Processes that read the graph for the service: what they are asked, and their limits."""

"""The graph for assistants, by the Model Context Protocol."""

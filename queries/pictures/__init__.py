"""Pictures of graphs: nodes and edges from paths, how they look, and their text formats."""

"""Open a graph, whichever engine it is for."""

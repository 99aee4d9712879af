"""Export dumps on the machines of a cluster."""

"""An export that is spread over the machines of a cluster."""

"""xlagraph.ingest."""

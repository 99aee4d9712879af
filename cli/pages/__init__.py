"""Results as pages for people: sentences and tables; as rows for scripts."""

"""Results as people read them: sentences and tables; as rows for scripts."""

"""Find causes of memory use that no single query shows, each with a specific edit."""

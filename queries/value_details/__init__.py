"""Read all facts about one value."""

"""The story of a value as one mapping."""

from dataclasses import asdict

from xlagraph.graph.engine import Cell
from xlagraph.queries.story.value_story import ValueStory


def story_cells(story: ValueStory) -> dict[str, Cell]:
    """Return the parts of a story by name."""
    life = asdict(story.life)
    return {
        "compilation": story.compilation,
        "value": story.value,
        "asked": story.asked,
        "what": story.what,
        "storage": story.storage,
        "maker": story.maker,
        "stack": story.stack,
        "attribution": story.attribution,
        "attributionStack": story.attribution_stack,
        "names": story.names,
        "before": story.before,
        "after": story.after,
        "aliases": story.aliases,
        "readers": story.readers,
        "life": {
            "liveFrom": life["live_from"],
            "liveUntil": life["live_until"],
            "lastUse": life["last_use"],
            "scheduleLength": life["schedule_length"],
            "endsAt": life["ends_at"],
            "ending": str(life["ending"]),
            "why": life["why"],
        },
        "peak": story.peak,
    }

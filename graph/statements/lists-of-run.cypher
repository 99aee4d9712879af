// Tags and snapshots of a run, each name=value
MATCH (r:Run {key: $run})
RETURN r.tags AS tags, r.snapshots AS snapshots
ORDER BY r.key

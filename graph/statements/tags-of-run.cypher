// Tags of a run, each name=value
MATCH (r:Run {key: $run})
RETURN r.tags AS tags
ORDER BY r.key

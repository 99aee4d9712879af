// Tags of all runs, as name=value
MATCH (r:Run)
UNWIND r.tags AS tag
RETURN DISTINCT tag
ORDER BY tag

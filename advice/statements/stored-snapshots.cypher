// Snapshots of each run
MATCH (r:Run)
WHERE r.snapshots IS NOT NULL
RETURN r.key AS run, r.snapshots AS snapshots
ORDER BY run

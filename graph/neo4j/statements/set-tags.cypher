// No row; sets a run's tags
MATCH (r:Run {key: $given.run})
SET r.tags = $given.tags

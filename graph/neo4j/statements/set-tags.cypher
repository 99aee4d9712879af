// No row; sets the tags of a run
MATCH (r:Run {key: $given.run})
SET r.tags = $given.tags

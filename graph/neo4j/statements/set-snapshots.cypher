// No row; sets a run's snapshots
MATCH (r:Run {key: $given.run})
SET r.snapshots = $given.snapshots

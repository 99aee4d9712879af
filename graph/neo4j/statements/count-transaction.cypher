// The worker's previous count, read after its node is locked; no row if the load was ended
MATCH (l:Load {key: $given.key})
SET l.heartbeat = timestamp()
WITH l, l.count AS counted
SET l.count = $given.count
RETURN counted

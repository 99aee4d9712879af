// How many transactions the worker had counted before this one; no row if the load was ended
MATCH (l:Load {key: $given.key})
WITH l, l.count AS done
SET l.count = $given.count, l.heartbeat = timestamp()
RETURN done

// No row; renews the lease of a load
MATCH (l:Load {key: $given.key})
SET l.heartbeat = timestamp()

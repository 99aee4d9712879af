// No row; makes the node of a load or of one of its workers
MERGE (l:Load {key: $given.key})
SET l.load = $given.load, l.process = $given.process, l.count = 0, l.heartbeat = timestamp()

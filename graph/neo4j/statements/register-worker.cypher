// No row; makes the node that stands for a load or one of its workers
MERGE (l:Load {key: $given.key})
SET l.load = $given.load, l.process = $given.process, l.count = 0, l.heartbeat = timestamp()

// The other loads, with the milliseconds since their last heartbeat
MATCH (l:Load)
WITH l.load AS load, min(l.process) AS process, max(l.heartbeat) AS heartbeat
WHERE load <> $given.own
RETURN load, process, timestamp() - heartbeat AS silentMilliseconds

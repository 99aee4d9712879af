// The other loads, with the milliseconds since their last heartbeat
MATCH (l:Load)
WITH l.load AS load, collect(l.process)[0] AS process, max(l.heartbeat) AS heartbeat
WHERE load <> $given.own
RETURN load, process, timestamp() - heartbeat AS silent

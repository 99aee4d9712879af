// Frames that call a frame, nearest first, up to thirty
MATCH p = (f:Frame {key: $frame})-[:CALLED_FROM*1..30]->(g)
WHERE g.key <> f.key
RETURN length(p) AS depth, g.key AS frame, g.function AS function, g.file AS file, g.line AS line
ORDER BY depth, frame

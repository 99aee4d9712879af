// Frames that call a frame, nearest first, up to thirty
MATCH p = (f:Frame {key: $frame})-[:CALLED_FROM*1..30]->(g:Frame)
WHERE g.key <> f.key
OPTIONAL MATCH (g)-[:CALLED_FROM]->(h:Frame)
RETURN g.key AS key, h.key AS caller, g.function AS function, g.file AS file, g.line AS line,
       length(p) AS depth
ORDER BY depth, key

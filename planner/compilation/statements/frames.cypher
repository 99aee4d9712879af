// Frames with these keys, each with its caller
UNWIND $frames AS frameKey
MATCH (f:Frame {key: frameKey})
OPTIONAL MATCH (f)-[:CALLED_FROM]->(g:Frame)
RETURN f.key AS key, g.key AS caller, f.function AS function, f.file AS file, f.line AS line
ORDER BY key

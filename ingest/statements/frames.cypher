// Call paths and their callers
MATCH (f:Frame)
OPTIONAL MATCH (f)-[:CALLED_FROM]->(outer:Frame)
RETURN f.key AS frame, f.file AS file, f.line AS line, f.function AS function,
       outer.key AS caller
ORDER BY frame

// Call paths and their callers
MATCH (f:Frame)
OPTIONAL MATCH (f)-[:CALLED_FROM]->(caller:Frame)
RETURN f.key AS frame, f.file AS file, f.line AS line, f.function AS function,
       caller.key AS caller
ORDER BY frame

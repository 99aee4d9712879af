// The innermost frame of the call stack of what a value is attributed to
MATCH (v:Value {key: $value})-[:ATTRIBUTED_FRAME]->(f:Frame)
RETURN f.key AS frame, f.function AS function, f.file AS file, f.line AS line
ORDER BY frame

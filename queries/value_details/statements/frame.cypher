// The innermost frame of the call stack of an instruction
MATCH (i:Instruction {key: $instruction})-[:IN_FRAME]->(f:Frame)
RETURN f.key AS frame, f.function AS function, f.file AS file, f.line AS line
ORDER BY frame

// Distinct places of values, and the user's lines that are stored for them
MATCH (c:Compilation)-[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
WHERE c.state = 'complete' AND (v.attributedFile IS NOT NULL OR v.userFile IS NOT NULL)
OPTIONAL MATCH (v)-[:ATTRIBUTED_FRAME]->(f:Frame)
WITH DISTINCT f.key AS frame,
     CASE WHEN f.key IS NULL THEN v.attributedFile ELSE null END AS file,
     CASE WHEN f.key IS NULL THEN v.attributedLine ELSE null END AS line,
     v.userFile AS userFile, v.userLine AS userLine
RETURN frame, file, line, userFile, userLine
ORDER BY frame, file, line

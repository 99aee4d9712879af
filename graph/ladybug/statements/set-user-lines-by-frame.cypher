// Set the user's lines of the values of call paths
UNWIND $rows AS row
MATCH (v:Value)-[:ATTRIBUTED_FRAME]->(f:Frame) WHERE f.key = row.frame
SET v.userFile = CASE WHEN row.userFile = '' THEN null ELSE row.userFile END,
    v.userLine = CASE WHEN row.userLine = 0 THEN null ELSE row.userLine END,
    v.userFunction = CASE WHEN row.userFunction = '' THEN null ELSE row.userFunction END

// Set the user's lines of values without a call path
UNWIND $rows AS row
MATCH (v:Value) WHERE v.attributedFile = row.file AND v.attributedLine = row.line
      AND NOT EXISTS {MATCH (v)-[:ATTRIBUTED_FRAME]->(:Frame)}
SET v.userFile = CASE WHEN row.userFile = '' THEN null ELSE row.userFile END,
    v.userLine = CASE WHEN row.userLine = 0 THEN null ELSE row.userLine END,
    v.userFunction = CASE WHEN row.userFunction = '' THEN null ELSE row.userFunction END

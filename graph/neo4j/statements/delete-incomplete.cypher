// No row; deletes an incomplete compilation of a load, whose parts are gone
MATCH (c:Loading)
WHERE c.load = $given.load AND c.key = $given.key
DETACH DELETE c

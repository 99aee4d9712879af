// How many of the claimed compilations are complete now; their properties are those given
MATCH (c:Loading)
WHERE c.load = $given.load AND c.key IN $given.keys
WITH c, $given.rows[c.key] AS row
REMOVE c:Loading
SET c:Compilation, c = row
RETURN count(*) AS completed

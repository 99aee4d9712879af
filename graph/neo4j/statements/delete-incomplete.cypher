// No row; deletes an incomplete compilation of a load, whose parts are gone, and the claim on it
MATCH (k:Claim)
WHERE k.load = $given.load AND k.key = $given.key
MATCH (c:Loading)
WHERE c.key = $given.key
DETACH DELETE k, c

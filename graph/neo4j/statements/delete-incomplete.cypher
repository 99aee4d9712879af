// No row; deletes an incomplete compilation of a load and the claim on it, after its parts
MATCH (k:Claim)
WHERE k.load = $given.load AND k.key = $given.key
MATCH (c:Loading)
WHERE c.key = $given.key
DETACH DELETE k, c

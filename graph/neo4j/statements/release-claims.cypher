// Number of compilations that a load had claimed; deletes the claims
MATCH (k:Claim)
WHERE k.load = $given.load AND k.key IN $given.keys
DELETE k
RETURN count(*) AS released

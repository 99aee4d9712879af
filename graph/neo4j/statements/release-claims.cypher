// How many of some compilations a load had claimed; the claims are deleted
MATCH (k:Claim)
WHERE k.load = $given.load AND k.key IN $given.keys
DELETE k
RETURN count(*) AS released

// No row; moves the claims on incomplete compilations to a load
MATCH (k:Claim)
WHERE k.key IN $given.keys
SET k.purpose = 'loading', k.load = $given.load

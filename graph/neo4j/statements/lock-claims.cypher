// No row; locks the claims on compilations of some keys
MATCH (k:Claim)
WHERE k.key IN $given.keys
SET k.key = k.key

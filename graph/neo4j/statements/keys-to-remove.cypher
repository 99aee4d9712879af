// Keys of the compilations that a load is removing
MATCH (k:Claim)
WHERE k.load = $given.own AND k.purpose = 'removing'
RETURN k.key AS key

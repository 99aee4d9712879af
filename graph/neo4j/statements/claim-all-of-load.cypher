// No row; moves the claims of another load to the load that removes its compilations
MATCH (k:Claim)
WHERE k.load = $given.load
SET k.load = $given.own, k.purpose = 'removing'

// No row; hands what another load did not complete to a load that removes it
MATCH (k:Claim)
WHERE k.load = $given.load
SET k.load = $given.own, k.purpose = 'removing'

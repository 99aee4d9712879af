// No row; deletes the nodes of a load and its workers, unless it left a compilation incomplete
MATCH (l:Load {load: $given.load})
WHERE NOT EXISTS { MATCH (k:Claim) WHERE k.load = $given.load }
DELETE l

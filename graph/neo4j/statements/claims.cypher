// Claims on compilations of some keys, and if the load that made them still exists
MATCH (k:Claim)
WHERE k.key IN $given.keys
RETURN k.key AS key, k.purpose AS purpose, k.load AS load,
       EXISTS { MATCH (l:Load) WHERE l.key = k.load } AS loadExists

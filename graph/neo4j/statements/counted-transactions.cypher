// Number of transactions that a worker has counted; no row if the load was ended
MATCH (l:Load {key: $given.key})
RETURN l.count AS counted

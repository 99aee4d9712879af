// No row; deletes compilations by key, after their parts were deleted
UNWIND $keys AS stale
MATCH (n:Compilation {key: stale})
DETACH DELETE n

// No row; deletes compilations by key, whose parts are gone
UNWIND $keys AS stale
MATCH (n:Compilation {key: stale})
DETACH DELETE n

// No row; marks new, locked compilations as incomplete, claimed by a load
UNWIND $given.keys AS key
MATCH (c:Compilation {key: key})
WHERE c.state IS NULL
REMOVE c:Compilation
SET c:Loading
CREATE (:Claim {key: key, load: $given.load, purpose: 'loading'})

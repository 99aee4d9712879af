// No row; marks complete compilations as incomplete, claimed by a load; changes only labels
UNWIND $given.keys AS key
MATCH (c:Compilation {key: key})
REMOVE c:Compilation
SET c:Loading
CREATE (:Claim {key: key, load: $given.load, purpose: $given.purpose})

// No row; makes complete compilations incomplete, claimed by a load; of the node only labels change
UNWIND $given.keys AS key
MATCH (c:Compilation {key: key})
REMOVE c:Compilation
SET c:Loading
CREATE (:Claim {key: key, load: $given.load, purpose: $given.purpose})

// No row; makes incomplete compilations complete; of the node only labels change
MATCH (c:Loading)
WHERE c.key IN $given.keys
REMOVE c:Loading
SET c:Compilation

// No row; marks incomplete compilations as complete; changes only labels
MATCH (c:Loading)
WHERE c.key IN $given.keys
REMOVE c:Loading
SET c:Compilation

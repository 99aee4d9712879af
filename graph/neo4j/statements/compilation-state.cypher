// State of a compilation, complete or not, and the load that holds it; nulls if it is gone
OPTIONAL MATCH (c:Compilation {key: $given.key})
OPTIONAL MATCH (l:Loading)
WHERE l.key = $given.key
RETURN c.state AS completeState, l.state AS incompleteState, l.load AS load

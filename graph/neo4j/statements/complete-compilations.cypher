// Keys of all compilations, and the number of values of each
MATCH (c:Compilation)
WHERE c.state = 'complete'
RETURN c.key AS compilation, c.valueCount AS values
ORDER BY compilation

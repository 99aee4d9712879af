// Keys of all compilations, and how many values each has
MATCH (c:Compilation)
WHERE c.state = 'complete'
RETURN c.key AS compilation, c.valueCount AS values
ORDER BY compilation

// Keys of the complete compilations
MATCH (c:Compilation) WHERE c.state = 'complete'
RETURN c.key AS compilation
ORDER BY compilation

// Keys of compilations that contain $part
MATCH (c:Compilation) WHERE c.state = 'complete' AND c.key CONTAINS $part
RETURN c.key AS compilation
ORDER BY compilation

// A compilation that is stored with peak detail only
MATCH (c:Compilation)
WHERE c.detail = 'peak' AND c.state = 'complete'
RETURN c.key AS compilation
ORDER BY compilation
LIMIT 1

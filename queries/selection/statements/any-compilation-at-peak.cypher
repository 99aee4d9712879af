// One of the compilations that are stored only with their peaks
MATCH (c:Compilation)
WHERE c.detail = 'peak' AND c.state = 'complete'
RETURN c.key AS compilation
ORDER BY compilation
LIMIT 1

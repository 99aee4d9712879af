// One of the compilations that is stored with its peaks alone
MATCH (c:Compilation)
WHERE c.detail = 'peak' AND c.state = 'complete'
RETURN c.key AS compilation
ORDER BY compilation
LIMIT 1

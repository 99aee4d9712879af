// Number of steps in a compilation's schedule
MATCH (c:Compilation {key: $compilation, state: 'complete'})
RETURN c.scheduleLength AS steps
ORDER BY steps

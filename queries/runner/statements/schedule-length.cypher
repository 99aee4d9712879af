// Number of steps in the schedule of a compilation
MATCH (c:Compilation {key: $compilation, state: 'complete'})
RETURN c.scheduleLength AS steps
ORDER BY steps

// How many steps the schedule of a compilation has
MATCH (c:Compilation {key: $compilation, state: 'complete'})
RETURN c.scheduleLength AS steps
ORDER BY steps

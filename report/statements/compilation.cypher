// The compilation of this key, if it is complete
MATCH (c:Compilation {key: $compilation, state: 'complete'})
RETURN c.key AS key, c.run AS run, c.scheduleLength AS scheduleLength
ORDER BY key

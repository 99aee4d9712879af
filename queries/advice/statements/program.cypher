// What planning needs of a compilation as a whole
MATCH (c:Compilation {key: $compilation, state: 'complete'})
RETURN c.platform AS platform, c.result AS result, c.scheduleLength AS scheduleLength,
       c.key AS compilation
ORDER BY compilation

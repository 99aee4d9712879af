// The compilation of this key, if it is complete
MATCH (c:Compilation {key: $compilation, state: 'complete'})
RETURN c.key AS key, c.run AS run, c.scheduleLength AS scheduleLength,
       c.printedPeakBytes AS printedPeakBytes, c.printedPeakStep AS printedPeakStep
ORDER BY key

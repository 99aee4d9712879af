// One op over all runs
// @kind     table
// @answers  When did the memory of this op appear?
// @param    opName      STRING       op name, whole
// @param    memorySpace INTEGER = 0  number of the memory space
// @column   run         STRING       name of the run
// @column   compilation STRING       its key
// @column   bytes       INTEGER      its physical share of the peak
// @column   ingestedAt  STRING       ISO 8601, UTC
// @measure  physical
// @note     Compilations in which a value of the op is live at the physical peak.
// @status   stable
MATCH (o:Op {key: $opName})<-[:FROM_OP]-(:Instruction)-[:DEFINES]->(v:Value)
MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace {color: $memorySpace})<-[:USES_SPACE]-(c:Compilation)
WHERE c.state = 'complete'
MATCH (r:Run)-[:COMPILED]->(c)
RETURN r.name AS run, c.key AS compilation, sum(p.physicalBytes) AS bytes,
       c.ingestedAt AS ingestedAt
ORDER BY run, compilation, ingestedAt

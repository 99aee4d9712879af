// Values that hold the most memory at the peak, with their lines, as a picture
// @kind     graph
// @answers  Which values occupy the peak, and which source lines made several of them?
// @param    compilation STRING        key of a compilation, or a unique part of it
// @param    memorySpace INTEGER = 0   memory space number
// @param    limit       INTEGER = 28  values drawn, largest share first
// @column   held        PATH          path from the memory space to a value that is live at its
//           physical peak
// @column   made        PATH          path from the value to its source line
// @measure  physical
// @note     A value without an op name is linked to a line inside its
//           instruction, or to an operand's or a reader's, as in peak/by-line.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:USES_SPACE]->(s:MemorySpace {color: $memorySpace})
MATCH held = (s)<-[p:LIVE_AT_PEAK]-(v:Value)
WITH held, v, p.physicalBytes AS physicalBytes
ORDER BY physicalBytes DESC, v.sizeBytes DESC, v.label
LIMIT $limit
OPTIONAL MATCH made = (v)-[:ATTRIBUTED_LINE]->(:SourceLine)
RETURN held, made
ORDER BY physicalBytes DESC, v.sizeBytes DESC, v.label

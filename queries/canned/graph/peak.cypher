// Values that hold the most memory at the peak, with their lines, as a picture
// @kind     graph
// @answers  What holds the peak, and which of my lines made several of them?
// @param    compilation STRING        key of a compilation, or a unique part of it
// @param    memorySpace INTEGER = 0   number of the memory space
// @param    limit       INTEGER = 28  values to draw, the largest share first
// @column   held        PATH          a value that is live at the physical peak
// @column   made        PATH          the source line that it belongs to
// @measure  physical
// @note     What has no op name of its own stands at the line of the op that it is made of or
//           read by, as in peak/by-line.
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

// The peak as a tree of calls, from the outermost caller inwards
// @kind     table
// @answers  Which calls in my program lead to the memory at the peak?
// @param    compilation     STRING          key of a compilation, or a unique part of it
// @param    memorySpace     INTEGER = 0     memory space number
// @param    minPercent      INTEGER = 1     smallest share of the peak, in percent, of the calls to
//           return
// @param    limit           INTEGER = 1000  rows to return
// @bounds   minPercent      0..100
// @column   depth           INTEGER         depth in the call tree; 1 for the outermost caller
// @column   function        STRING          function name; null if the dump has no call stacks
// @column   file            STRING          source file of the function
// @column   line            INTEGER         line that makes the next call, or that produced the values
// @column   sourceColumn    INTEGER         column in that line
// @column   ownBytes        INTEGER         physical shares of the values made directly by this
//           line
// @column   cumulativeBytes INTEGER         ownBytes of this line and of all calls below it
// @column   share           FLOAT           cumulativeBytes as a fraction of the physical peak, 0
//           to 1
// @measure  physical
// @note     Callers are listed before their callees, and the calls of one caller by line. Values
//           without a line, such as parameters, are in the row without function, file and line.
// @note     A dump without call stacks has a row for each line. Stacks deeper than 121 frames are
//           cut at the outer end.
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:USES_SPACE]->(s:MemorySpace {color: $memorySpace})
MATCH (s)<-[p:LIVE_AT_PEAK]-(v:Value)
OPTIONAL MATCH (v)-[:ATTRIBUTED_FRAME]->(f:Frame)
WITH max(s.physicalPeakBytes) AS peakBytes, coalesce(f.key, '') AS frame,
     CASE WHEN f.key IS NULL THEN v.attributedFile ELSE null END AS lineFile,
     CASE WHEN f.key IS NULL THEN v.attributedLine ELSE null END AS lineNumber,
     sum(p.physicalBytes) AS bytes
// a walk takes at most 30 steps, and a frame has one caller: four walks, one after the other
OPTIONAL MATCH (f:Frame {key: frame})-[:CALLED_FROM*1..30]->(b:Frame) WHERE b.depth = f.depth - 30
OPTIONAL MATCH (b)-[:CALLED_FROM*1..30]->(d:Frame) WHERE d.depth = b.depth - 30
OPTIONAL MATCH (d)-[:CALLED_FROM*1..30]->(e:Frame) WHERE e.depth = d.depth - 30
WITH peakBytes, frame, lineFile, lineNumber, bytes,
     [frame, coalesce(b.key, ''), coalesce(d.key, ''), coalesce(e.key, '')] AS walks
UNWIND walks AS walk
OPTIONAL MATCH (:Frame {key: walk})-[:CALLED_FROM*1..30]->(caller)
WITH peakBytes, frame, lineFile, lineNumber, bytes, collect(caller.key) + [frame] AS frames
UNWIND frames AS frameKey
OPTIONAL MATCH (g:Frame {key: frameKey})
WITH coalesce(g.treeOrder, '') AS treeOrder, coalesce(g.depth, 1) AS depth,
     g.function AS function, coalesce(g.file, lineFile) AS file,
     coalesce(g.line, lineNumber) AS line, g.sourceColumn AS sourceColumn, max(peakBytes) AS peakBytes,
     sum(CASE WHEN frameKey = frame THEN bytes ELSE 0 END) AS ownBytes,
     sum(bytes) AS cumulativeBytes
WHERE cumulativeBytes > 0 AND 100.0 * cumulativeBytes / peakBytes >= $minPercent
RETURN depth, function, file, line, sourceColumn, ownBytes, cumulativeBytes,
       1.0 * cumulativeBytes / peakBytes AS share
ORDER BY treeOrder, file, line, function, sourceColumn, depth
LIMIT $limit

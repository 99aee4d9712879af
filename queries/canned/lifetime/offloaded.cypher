// Values in the host's memory, and whether they are there at the device's peak
// @kind     table
// @answers  What is offloaded, from when to when, and is it off the device at the peak?
// @param    compilation     STRING        key of a compilation, or a unique part of it
// @param    limit           INTEGER = 20  rows to return
// @column   value           STRING        name of the value, with its tuple index
// @column   sizeBytes       INTEGER       assigned size, including padding
// @column   movedBytes      INTEGER       sizeBytes if the value is on the host at the peak of
//           memory space 0, otherwise 0: then the offload moves nothing off that peak
// @column   liveFrom        INTEGER       first step of the live range
// @column   liveUntil       INTEGER       last step of the live range, inclusive
// @column   peakStep        INTEGER       step of the physical peak of memory space 0
// @column   role            STRING        role of its allocation, such as parameter or temp
// @column   shape           STRING        shape, without layout
// @column   attributedOpName STRING       op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile        STRING        file of the innermost line outside installed packages
// @column   userLine        INTEGER       line in that file
// @shown    value sizeBytes movedBytes userFile liveFrom liveUntil attributedOpName
// @measure  assigned
// @note     Memory space 5 is the host's on every platform; layouts print it as S(5).
// @empty    nothing is in the host's memory in this compilation
// @status   experimental
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
WHERE v.memorySpace = 5 AND NOT v.dtype IN ['tuple', 'token', 'opaque']
RETURN v.label AS value, v.sizeBytes AS sizeBytes,
       CASE WHEN v.liveFrom <= c.physicalPeakStep AND c.physicalPeakStep <= v.liveUntil
            THEN v.sizeBytes ELSE 0 END AS movedBytes,
       v.liveFrom AS liveFrom, v.liveUntil AS liveUntil, c.physicalPeakStep AS peakStep,
       a.role AS role, v.shape AS shape, v.attributedOpName AS attributedOpName,
       v.userFile AS userFile, v.userLine AS userLine
ORDER BY movedBytes DESC, sizeBytes DESC, value
LIMIT $limit

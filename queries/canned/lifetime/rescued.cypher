// Instructions that XLA's rematerialization cloned to reduce the peak
// @kind     table
// @answers  Did XLA's rematerialization run, what did it clone, and how much did it save?
// @param    compilation     STRING        key of a compilation, or a unique part of it
// @param    limit           INTEGER = 20  rows to return
// @column   value           STRING        value that a clone makes, with its tuple index
// @column   original        STRING        instruction that it is a clone of; null if that is gone
// @column   sizeBytes       INTEGER       assigned size, including padding
// @column   savedBytes      INTEGER       bytes that are not live at the peak because of the clone;
//           0 if the peak is not between the two
// @column   liveFrom        INTEGER       first step of the live range
// @column   liveUntil       INTEGER       last step of the live range, inclusive
// @column   originalUntil   INTEGER       last step at which the original value is live
// @column   shape           STRING        shape, without layout
// @column   attributedOpName STRING       op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile        STRING        file of the innermost line outside installed packages
// @column   userLine        INTEGER       line in that file
// @shown    value original sizeBytes savedBytes userFile attributedOpName
// @measure  assigned
// @note     XLA names a clone after its original: fusion.7.remat, fusion.7.remat2.
// @note     The limit is not in a dump: (memory of the device − inputs and outputs) × slop, which is
//           0.95 on a GPU; `check --capacity` computes it there. A message "Can't reduce memory use
//           below" states it, and `xlagraph oom` explains that.
// @note     Rows are about memory space 0. savedBytes counts this plan: without the clones XLA would also pack and schedule
//           differently.
// @empty    no instruction is a clone: XLA's rematerialization did not run, or found nothing to do
// @status   experimental
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:SCHEDULES]->(i:Instruction)
WHERE i.name CONTAINS '.remat'
MATCH (i)-[:DEFINES]->(v:Value)
WHERE v.memorySpace = 0 AND NOT v.dtype IN ['tuple', 'token', 'opaque']
WITH c, v
OPTIONAL MATCH (c)-[:ALLOCATES]->(:Allocation)-[:HOLDS]->(w:Value)
WHERE v.name STARTS WITH (w.name + '.remat') AND w.label = replace(v.label, v.name, w.name)
RETURN v.label AS value, w.name AS original, v.sizeBytes AS sizeBytes,
       CASE WHEN w.liveUntil < c.physicalPeakStep AND v.liveFrom > c.physicalPeakStep
            THEN w.sizeBytes ELSE 0 END AS savedBytes,
       v.liveFrom AS liveFrom, v.liveUntil AS liveUntil, w.liveUntil AS originalUntil,
       v.shape AS shape, v.attributedOpName AS attributedOpName,
       v.userFile AS userFile, v.userLine AS userLine
ORDER BY savedBytes DESC, sizeBytes DESC, value, original
LIMIT $limit

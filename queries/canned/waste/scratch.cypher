// Results of library calls that nothing reads
// @kind     table
// @answers  Which buffers are scratch for library calls?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    limit         INTEGER = 20  rows to return
// @column   value         STRING        name of the value, with its tuple index
// @column   sizeBytes     INTEGER       assigned size, padding included
// @column   physicalBytes INTEGER       its own share of the physical peak; null where it is not
//           live then
// @column   instruction   STRING        the custom call
// @column   target        STRING        the function that it calls
// @column   shape         STRING        shape, without layout
// @column   opcode        STRING        opcode of the instruction that makes it
// @column   opName        STRING        op name of that instruction, as the framework set it
// @column   sourceFile    STRING        source file of that instruction
// @column   sourceLine    INTEGER       line in that file
// @column   attributedOpName STRING        op name that it belongs to: its own, else of what it is
//           made of or read by
// @column   userFile      STRING        file of the innermost line outside of installed packages
// @column   userLine      INTEGER       that line
// @measure  assigned, physical
// @note     Scratch is an array among the results of a custom call that no instruction uses and
//           that does not leave the program, wherever it lies: the buffer of an output serves as
//           scratch before the output is written. Calls without operands are left out: a dump
//           without use lines would make all of theirs look like scratch.
// @empty    no library call has a result that nothing reads
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
WHERE v.opcode = 'custom-call' AND v.shapeIndex IS NOT NULL
      AND NOT v.dtype IN ['tuple', 'token', 'opaque']
      AND (v.liveUntil < c.scheduleLength OR (v.liveUntil IS NULL AND a.maybeLiveOut = false))
OPTIONAL MATCH (v)-[:USED_BY]->(u:Instruction)
OPTIONAL MATCH (v)<-[:DEFINES]-(i:Instruction)
OPTIONAL MATCH (i)<-[:USED_BY]-(o:Value)
WITH v, i, count(u) AS readers, count(o) AS operands
WHERE readers = 0 AND operands > 0
OPTIONAL MATCH (v)-[p:LIVE_AT_PEAK]->(:MemorySpace)
RETURN v.label AS value, v.sizeBytes AS sizeBytes, p.physicalBytes AS physicalBytes,
       i.name AS instruction, i.target AS target,
       v.shape AS shape, v.opcode AS opcode, v.opName AS opName,
       v.sourceFile AS sourceFile, v.sourceLine AS sourceLine,
       v.attributedOpName AS attributedOpName, v.userFile AS userFile, v.userLine AS userLine
ORDER BY sizeBytes DESC, value
LIMIT $limit

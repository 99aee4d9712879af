// Results of library calls and fusions that nothing reads
// @kind     table
// @answers  Which buffers are scratch space for library calls, or results that nobody reads?
// @param    compilation   STRING        key of a compilation, or a unique part of it
// @param    limit         INTEGER = 20  rows to return
// @column   value         STRING        name of the value, with its tuple index
// @column   sizeBytes     INTEGER       assigned size, including padding
// @column   physicalBytes INTEGER       share of the physical peak; null if not live at that peak
// @column   instruction   STRING        name of the instruction that writes it
// @column   target        STRING        function that a custom call invokes; null for a result of
//           XLA's own code, which is computed for nothing
// @column   shape         STRING        shape, without layout
// @column   opcode        STRING        opcode of the instruction that produces the value
// @column   opName        STRING        op name of that instruction, as set by the framework
// @column   sourceFile    STRING        source file of that instruction
// @column   sourceLine    INTEGER       line in that file
// @column   attributedOpName STRING        op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile      STRING        file of the innermost line outside installed packages
// @column   userLine      INTEGER       line in that file
// @shown    value sizeBytes userFile physicalBytes attributedOpName
// @measure  assigned, physical
// @note     Scratch is an array among several results that no instruction uses and that is not an
//           output. It can be in any allocation: an output's buffer can be scratch before the
//           output is written. Instructions without operands are excluded, because all their
//           results would look like scratch in a dump without use lines; so are loops, calls,
//           collectives and asynchronous instructions.
// @empty    no instruction has a result that nothing reads
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
WHERE v.opcode IN ['custom-call', 'fusion', 'sort', 'reduce', 'reduce-window', 'scatter', 'map',
                   'rng-bit-generator'] AND v.shapeIndex IS NOT NULL
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

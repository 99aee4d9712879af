// Values made from one, hop by hop
// @kind     table
// @answers  Who reads it, up to N hops?
// @param    compilation STRING          key of a compilation, or a unique part of it
// @param    value       STRING          label of a value, with its tuple index: fusion.7,
//           while.1{1}
// @param    hops        INTEGER = 3     how far to walk, at most 5
// @param    limit       INTEGER = 1000  rows to return
// @bounds   hops        1..5
// @column   hop         INTEGER         instructions between, the smallest number
// @column   value       STRING          name of the value, with its tuple index
// @column   instruction STRING          the one that makes it
// @column   sizeBytes   INTEGER         assigned size, padding included
// @column   shape       STRING          shape, without layout
// @column   opcode      STRING          opcode of the instruction that makes it
// @column   opName      STRING          op name of that instruction, as the framework set it
// @column   sourceFile  STRING          source file of that instruction
// @column   sourceLine  INTEGER         line in that file
// @column   attributedOpName STRING          op name that it belongs to: its own, else of what it
//           is made of or read by
// @column   userFile    STRING          file of the innermost line outside of installed packages
// @column   userLine    INTEGER         that line
// @measure  assigned
// @status   stable
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(:Allocation)-[:HOLDS]->(v:Value)
WITH v WHERE v.label = $value
MATCH p = (v)-[:USED_BY|DEFINES*1..10]->(w)
WHERE w.key <> v.key
WITH w.key AS k, min(length(p)) AS walked
WHERE walked <= 2 * $hops
MATCH (x:Value {key: k})
RETURN walked / 2 AS hop, x.label AS value, x.name AS instruction, x.sizeBytes AS sizeBytes,
       x.shape AS shape, x.opcode AS opcode, x.opName AS opName,
       x.sourceFile AS sourceFile, x.sourceLine AS sourceLine,
       x.attributedOpName AS attributedOpName, x.userFile AS userFile, x.userLine AS userLine
ORDER BY hop, value
LIMIT $limit

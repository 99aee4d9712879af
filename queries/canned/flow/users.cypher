// Values computed from a value, by distance
// @kind     table
// @answers  Which instructions read it, up to N hops?
// @param    compilation STRING          key of a compilation, or a unique part of it
// @param    value       STRING          value label with its tuple index: fusion.7, while.1{1}
// @param    hops        INTEGER = 3     largest distance in instructions, at most 5
// @param    limit       INTEGER = 1000  rows to return
// @bounds   hops        1..5
// @column   hop         INTEGER         distance in instructions along the shortest path
// @column   value       STRING          name of the value, with its tuple index
// @column   instruction STRING          instruction that produces the value
// @column   sizeBytes   INTEGER         assigned size, including padding
// @column   shape       STRING          shape, without layout
// @column   opcode      STRING          opcode of the instruction that produces the value
// @column   opName      STRING          op name of that instruction, as set by the framework
// @column   sourceFile  STRING          source file of that instruction
// @column   sourceLine  INTEGER         line in that file
// @column   attributedOpName STRING          op name of the instruction; if it has none, of its
//           contents, an operand or a reader
// @column   userFile    STRING          file of the innermost line outside installed packages
// @column   userLine    INTEGER         line in that file
// @shown    hop value sizeBytes userFile attributedOpName
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

// The values that appear at an instruction, whichever made them
MATCH (i:Instruction {key: $instruction})<-[p:APPEARS_AT]-(v:Value)
RETURN v.key AS value, p.shapeIndex AS shapeIndex, v.label AS label
ORDER BY shapeIndex, label

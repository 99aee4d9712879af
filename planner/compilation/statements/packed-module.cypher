// The compiled module of a compilation, compressed
MATCH (c:Compilation {key: $compilation, state: 'complete'})-[:PACKS]->(p:PackedModule)
RETURN p.form AS form, p.packed AS packed
ORDER BY form

// The version of the schema that wrote the file
MATCH (s:Schema {key: 'xlagraph'})
RETURN s.version AS version

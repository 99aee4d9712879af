// No row; stores the version of the schema
CREATE (:Schema {key: 'xlagraph', version: $version})

// No row; creates the table for the version of the schema
CREATE NODE TABLE Schema(`key` STRING, version INT64, PRIMARY KEY(`key`))

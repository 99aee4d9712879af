// Settings of the server by name; an advertised address is null if it is the default, localhost
SHOW SETTINGS 'server.http.enabled', 'server.http.listen_address',
              'server.http.advertised_address', 'server.https.enabled',
              'server.https.listen_address', 'server.https.advertised_address'
YIELD name, value, isExplicitlySet
RETURN name, CASE WHEN name ENDS WITH 'advertised_address' AND NOT isExplicitlySet
                  THEN null ELSE value END AS value

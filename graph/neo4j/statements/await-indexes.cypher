// No row; waits until the indexes are filled, for five minutes at most
CALL db.awaitIndexes(300)

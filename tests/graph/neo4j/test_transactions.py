"""Each transaction of a load is done exactly once."""

import time
from concurrent.futures import ThreadPoolExecutor

import neo4j
import pytest

from tests.graph.made_rows import made_rows
from tests.neo4j_server.server import Neo4jServer
from xlagraph.graph import Graph
from xlagraph.graph.neo4j.chunks import CompilationBatch
from xlagraph.graph.neo4j.connections import ServerDatabase
from xlagraph.graph.neo4j.schema_statements import write_chunk
from xlagraph.graph.neo4j.transactions import LoadState, Transactions, run_statement

BLOCKED = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN count(*) AS n"


def count_again(transactions: Transactions) -> object:
    return transactions.once(lambda _: "done twice")


def write_a_chunk_again(transactions: Transactions) -> object:
    batch = CompilationBatch(made_rows())
    given = batch.parameters(0, batch.length) | {"worker": transactions.key, "count": 1}
    return transactions.retried(lambda tx: run_statement(tx, write_chunk(), **given).single())


@pytest.mark.parametrize("repeat", [count_again, write_a_chunk_again])
def test_a_transaction_repeated_while_the_server_commits_it_is_done_once(
    neo4j_graph: Graph, neo4j_server: Neo4jServer, repeat
):
    """The connection was lost: the repetition waits for the first's lock, and sees its result."""
    name = neo4j_server.database or "neo4j"
    with (
        neo4j_server.driver() as driver,
        driver.session(database=name) as session,
        ThreadPoolExecutor(1) as pool,
    ):
        bookmarks = neo4j.GraphDatabase.bookmark_manager()
        transactions = Transactions(LoadState("load", ServerDatabase(driver, name, bookmarks)))
        transactions.register()
        with session.begin_transaction() as unconfirmed:
            unconfirmed.run("MATCH (l:Load {key: 'load'}) SET l.count = 1").consume()
            repeated = pool.submit(repeat, transactions)
            deadline = time.monotonic() + 180
            while driver.execute_query(BLOCKED, database_=name).records[0]["n"] == 0:
                assert time.monotonic() < deadline
                assert not repeated.done()
            unconfirmed.commit()
        assert repeated.result() is None
        transactions.unregister()

"""Graphs for tests: a file, and a real Neo4j where one can be had.

Neo4j is, in this order: the server that NEO4J_URI names, if its database is empty; a
container, where a Docker engine answers; a server of our own from Maven's artifacts, where
Java and Maven are. Else tests of Neo4j are skipped and say why; XLAGRAPH_REQUIRE_NEO4J=1
makes that a failure, and =0 skips them without looking for a server. A server started here
listens on loopback only and ends with the tests.

XLAGRAPH_NEO4J_VERSION=2026.08.1 names the version of what is started here. Java is that of
JAVA_HOME, of the path or below /usr/lib/jvm, the first that is new enough.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from xlagraph.graph import Graph, open_graph

if TYPE_CHECKING:
    import neo4j

SERVER = Path(__file__).parent / "neo4j_server"
LONG_TERM = "5.26.30"
NEWEST = "2026.08.1"
BROWSER = "org.neo4j.client:neo4j-browser:5.24.0"
"""The last Browser that is published as an artifact; servers since then carry a later one."""
VERSION = os.environ.get("XLAGRAPH_NEO4J_VERSION") or LONG_TERM
Fill = Callable[[Graph, Path], object]
"""Fills an empty graph; the folder is there for dumps."""
GraphOf = Callable[[Fill], Graph]
_FILLED_BY: dict[str, Fill] = {}
"""What the graph of a server holds, by its address, where `graph_of` filled it."""
_CONNECTION = ("NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD", "NEO4J_DATABASE", "XLAGRAPH_GRAPH")

CONFIGURATION = """\
server.default_listen_address=127.0.0.1
server.bolt.enabled=true
server.bolt.listen_address=127.0.0.1:{bolt_port}
server.http.enabled={http}
server.http.listen_address=127.0.0.1:{http_port}
server.https.enabled=false
dbms.security.auth_enabled={auth}
dbms.usage_report.enabled=false
server.memory.pagecache.size=128m
db.tx_log.preallocate=false
internal.server.bolt.thread_pool_shutdown_wait_time=1s
"""


@dataclass(frozen=True)
class Neo4jServer:
    """A server that runs; name and password are None where it asks for none."""

    uri: str
    user: str | None = None
    password: str | None = None
    database: str | None = None
    browser_url: str | None = None
    """Where it serves Browser, if it was started with it."""

    def environment(self) -> dict[str, str]:
        """Return the variables that name it to xlagraph."""
        named = {
            "NEO4J_USERNAME": self.user,
            "NEO4J_PASSWORD": self.password,
            "NEO4J_DATABASE": self.database,
        }
        return {name: value for name, value in named.items() if value is not None}

    def driver(self) -> "neo4j.Driver":
        """Connect to it without xlagraph; a context manager."""
        import neo4j

        auth = (self.user or "neo4j", self.password) if self.password else None
        return neo4j.GraphDatabase.driver(self.uri, auth=auth)

    @contextmanager
    def session(self) -> Iterator["neo4j.Session"]:
        """Open a session of its database without xlagraph."""
        with self.driver() as driver, driver.session(database=self.database or "neo4j") as session:
            yield session

    def execute(self, text: str, **parameters: object) -> "list[neo4j.Record]":
        """Run a statement in its database without xlagraph."""
        with self.session() as session:
            return list(session.run(text, parameters))


class NoNeo4j(Exception):
    """No server can be had here; the message says why."""


_JAVA_OPTIONS = (
    "-Xmx1g",
    "-XX:+UseSerialGC",  # others have threads, which take the processors from what is tested
    # a seventh of a start is spent on verifying classes, which are those of releases
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote",
    *(
        f"--add-opens=java.base/{name}=ALL-UNNAMED"
        for name in ("java.nio", "java.io", "sun.nio.ch")
    ),
    "--add-modules=jdk.incubator.vector",
)
# Warm in half the time, and from then on half as fast or less.
_BRIEF = "-XX:TieredStopAtLevel=1"


@contextmanager
def own_server(
    home: Path,
    *,
    auth: bool = False,
    bolt_port: int = 0,
    http_port: int = 0,
    extra: str = "",
    version: str = VERSION,
    is_brief: bool = False,
    has_browser: bool = False,
) -> Iterator[tuple[Neo4jServer, "subprocess.Popen[str]"]]:
    """Start a server from Maven's artifacts in a folder; used again, the folder keeps its graph.

    One that ``is_brief`` has little to do: it is soon warm, and slower from then on.
    """
    java = _java(version)
    classes = [_program(java, version), f"{_libraries(version)}/*"]
    if has_browser:
        classes.append(f"{_browser_artifact()}/*")
    (home / "conf").mkdir(parents=True, exist_ok=True)
    configuration = CONFIGURATION.format(
        bolt_port=bolt_port,
        http=str(has_browser).lower(),
        http_port=http_port,
        auth=str(auth).lower(),
    )
    (home / "conf" / "neo4j.conf").write_text(configuration + extra)
    options = [*_JAVA_OPTIONS, *((_BRIEF,) if is_brief else ())]
    with (home / "stderr.txt").open("a") as errors:
        process = subprocess.Popen(
            [java, *options, "-cp", ":".join(map(str, classes)), "Serve", home],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if ready := re.match(r"ready bolt=(\d+)(?: http=(\d+))?", line):
                page = f"http://127.0.0.1:{ready[2]}/browser/" if has_browser else None
                yield Neo4jServer(f"bolt://127.0.0.1:{ready[1]}", browser_url=page), process
                break
        else:
            raise NoNeo4j(f"the server did not start: {(home / 'stderr.txt').read_text()[-2000:]}")
    finally:
        process.kill()  # to end by itself takes seconds, and what it committed stays without
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


def neo4j_admin(home: Path, *, version: str = VERSION) -> Path:
    """Write a program that is `neo4j-admin` for the server of that folder; NoNeo4j without Java."""
    java, libraries = _java(version), _libraries(version)
    (home / "conf").mkdir(parents=True, exist_ok=True)
    program = home / "neo4j-admin"
    program.write_text(
        "#!/bin/sh\n"
        f"NEO4J_HOME='{home}' NEO4J_CONF='{home}/conf' "
        f"exec {java} {' '.join(_JAVA_OPTIONS)} {_BRIEF} -cp '{libraries}/*' "
        'org.neo4j.cli.AdminTool "$@"\n'
    )
    program.chmod(0o755)
    return program


def _java(version: str) -> str:
    """Find a Java that is new enough for a version."""
    needed = 17 if version.startswith("5.") else 21
    home = os.environ.get("JAVA_HOME")
    candidates = [f"{home}/bin/java"] if home else []
    candidates += ["java", *map(str, sorted(Path("/usr/lib/jvm").glob("*/bin/java")))]
    for java in filter(None, map(shutil.which, candidates)):
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
        found = re.search(r'version "(\d+)', said.stderr)
        if found and int(found[1]) >= needed:
            return java
    raise NoNeo4j(f"Neo4j {version} needs Java {needed} or newer; JAVA_HOME may name one")


def _libraries(version: str) -> Path:
    """Fetch what the server needs, once for each version."""
    pom = ("-f", str(SERVER / "pom.xml"), f"-Dneo4j.version={version}")
    return _fetched(f"neo4j-{version}", *pom, "dependency:copy-dependencies")


def _program(java: str, version: str) -> Path:
    """Compile what starts the server once; Java would do so at each start, for three seconds."""
    source = SERVER / "Serve.java"
    compiler = Path(shutil.which(java) or java).resolve().with_name("javac")
    if not compiler.exists():
        raise NoNeo4j(f"{java} has no compiler beside it: a JDK is needed")
    made_of = f"{version} {compiler} {source.read_text()}".encode()
    libraries = _libraries(version)
    with _shared_folder(f"serve-{hashlib.sha256(made_of).hexdigest()[:16]}") as (folder, is_made):
        if not is_made:
            command: list[str | Path] = [compiler, "-cp", f"{libraries}/*", "-d", folder, source]
            subprocess.run(command, check=True)
    return folder


def _browser_artifact() -> Path:
    """Fetch Neo4j Browser, which a server serves if it finds it among its classes."""
    return _fetched(BROWSER.replace(":", "-"), "dependency:copy", f"-Dartifact={BROWSER}")


def _fetched(name: str, *arguments: str) -> Path:
    """Return a folder of artifacts, which Maven fetches once."""
    if shutil.which("mvn") is None:
        raise NoNeo4j("mvn is missing")
    with _shared_folder(name) as (folder, is_made):
        if not is_made:
            fetched = subprocess.run(
                ["mvn", "-q", "-B", *arguments, f"-DoutputDirectory={folder}"],
                capture_output=True,
                text=True,
                check=False,
            )
            if fetched.returncode:
                raise NoNeo4j(f"Maven did not fetch {name}: {fetched.stdout[-2000:]}")
    return folder


@contextmanager
def _shared_folder(name: str) -> Iterator[tuple[Path, bool]]:
    """Yield a folder that runs of the tests share, and whether it is made; else the caller does."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = caches / "xlagraph-tests" / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the tests run in several processes
        yield folder, (folder / "complete").exists()
        (folder / "complete").touch()


@contextmanager
def _container() -> Iterator[Neo4jServer | None]:
    """Start a container; None where no Docker engine answers."""
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "info"], capture_output=True).returncode:
        yield None
        return
    from testcontainers.neo4j import Neo4jContainer

    image = f"neo4j:{VERSION}-community"
    with Neo4jContainer(image, password="only-for-tests") as container:
        yield Neo4jServer(container.get_connection_url(), "neo4j", "only-for-tests")


@contextmanager
def _some_server(home: Path) -> Iterator[Neo4jServer]:
    if uri := os.environ.get("NEO4J_URI"):
        server = Neo4jServer(
            uri,
            os.environ.get("NEO4J_USERNAME"),
            os.environ.get("NEO4J_PASSWORD"),
            os.environ.get("NEO4J_DATABASE"),
        )
        with open_graph(uri) as graph:
            if graph.query("MATCH (n) RETURN count(*) AS nodes").rows != ((0,),):
                pytest.fail(
                    f"the database at {uri} is not empty, and tests empty theirs: "
                    "delete its nodes yourself, or name another database in NEO4J_DATABASE"
                )
        yield server
        return
    with _container() as container:
        if container is not None:
            yield container
            return
    try:
        with own_server(home, is_brief=True) as (server, _):
            yield server
    except NoNeo4j as reason:
        raise NoNeo4j(f"NEO4J_URI is not set, no Docker engine answers, {reason}") from reason


@contextmanager
def skipped_without_neo4j() -> Iterator[None]:
    """Skip a test that finds no Neo4j, and say why; or fail, where one is required."""
    if os.environ.get("XLAGRAPH_REQUIRE_NEO4J") == "0":
        pytest.skip("XLAGRAPH_REQUIRE_NEO4J=0 asks for no Neo4j")
    try:
        yield
    except NoNeo4j as reason:
        if os.environ.get("XLAGRAPH_REQUIRE_NEO4J") == "1":
            pytest.fail(str(reason))
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    """A real Neo4j for the whole session."""
    with skipped_without_neo4j(), _some_server(tmp_path_factory.mktemp("neo4j")) as server:
        yield server


@pytest.fixture
def no_connection_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the graph that the user's environment names."""
    for name in _CONNECTION:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def embedded_graph(tmp_path: Path, no_connection_named: None) -> Iterator[Graph]:
    """An empty graph file, not made yet."""
    with open_graph(tmp_path / "test.lbug", create=True) as graph:
        yield graph


@pytest.fixture
def neo4j_graph(
    neo4j_server: Neo4jServer, no_connection_named: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Graph]:
    """The session's Neo4j, emptied."""
    for name, value in neo4j_server.environment().items():
        monkeypatch.setenv(name, value)
    empty(neo4j_server)
    with open_graph(neo4j_server.uri, create=True) as graph:
        yield graph


@pytest.fixture(params=["embedded", "neo4j"])
def graph(request: pytest.FixtureRequest) -> Graph:
    """An empty graph, on each engine in turn."""
    found: Graph = request.getfixturevalue(f"{request.param}_graph")
    return found


@pytest.fixture(scope="module", params=["embedded", "neo4j"])
def graph_of(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GraphOf]:
    """Return the graph that a function has filled, on each engine in turn; not to be changed.

    A function fills it once, however many tests ask, unless another emptied the server.
    """
    with ExitStack() as opened:
        environment = opened.enter_context(pytest.MonkeyPatch.context())
        for name in _CONNECTION:
            environment.delenv(name, raising=False)
        server: Neo4jServer | None = None
        if request.param == "neo4j":
            server = request.getfixturevalue("neo4j_server")
            for name, value in server.environment().items():
                environment.setenv(name, value)
        graphs: dict[Fill, Graph] = {}

        def filled(fill: Fill) -> Graph:
            if fill not in graphs:
                file = tmp_path_factory.mktemp("graph") / "test.lbug"
                location = file if server is None else server.uri
                graphs[fill] = opened.enter_context(open_graph(location, create=True))
            elif server is None or _FILLED_BY.get(server.uri) is fill:
                return graphs[fill]
            if server is not None:
                empty(server)
                _FILLED_BY[server.uri] = fill
            fill(graphs[fill], tmp_path_factory.mktemp("dumps"))
            return graphs[fill]

        yield filled


def empty(server: Neo4jServer) -> None:
    """Delete all nodes; constraints stay."""
    _FILLED_BY.pop(server.uri, None)
    server.execute("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 2000 ROWS")

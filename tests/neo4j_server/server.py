"""Neo4j servers: the address of a running one, and starting and stopping a local one."""

import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tests.neo4j_server.artifacts import (
    VERSION,
    NoNeo4j,
    browser_artifact,
    find_java,
    server_libraries,
    server_program,
)

if TYPE_CHECKING:
    import neo4j

Settings = Mapping[str, str]
"""Lines of neo4j.conf, by name."""
LOOPBACK_ALONE = {
    "server.default_listen_address": "127.0.0.1",
    "server.bolt.enabled": "true",
    "server.bolt.listen_address": "127.0.0.1:0",
    "server.http.enabled": "false",
    "server.http.listen_address": "127.0.0.1:0",
    "server.https.enabled": "false",
    "dbms.security.auth_enabled": "false",
    "dbms.usage_report.enabled": "false",
    "server.memory.pagecache.size": "128m",
    "db.tx_log.preallocate": "false",
    "internal.server.bolt.thread_pool_shutdown_wait_time": "1s",
}
_ANSWERS = ("ready ", "failed")
"""Beginnings of the lines that `Serve.java` prints once a server runs, or failed to start."""
ASK_FOR_PASSWORD = {"dbms.security.auth_enabled": "true"}

_JAVA_OPTIONS = (
    "-Xmx1g",
    "-XX:+UseSerialGC",  # other settings have threads, which take processors from the tested code
    # a seventh of a start is spent on verifying classes, which are those of releases
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote",
    *(
        f"--add-opens=java.base/{name}=ALL-UNNAMED"
        for name in ("java.nio", "java.io", "sun.nio.ch")
    ),
    "--add-modules=jdk.incubator.vector",
)
_SHORT_LIVED = (
    "-XX:TieredStopAtLevel=1",
    "-XX:ReservedCodeCacheSize=240m",
    "-XX:Tier3InvocationThreshold=100",
    "-XX:Tier3MinInvocationThreshold=50",
    "-XX:Tier3CompileThreshold=500",
)
"""Java options that halve the start time, and at least halve the later speed.

Without the second Java compiles nothing any more after 48 MB of code, and is far slower. With the
others it compiles what has run 100 times, not 200: starting, and planning each canned query once,
takes 48 instead of 59 seconds of a processor.
"""


@dataclass(frozen=True)
class Neo4jServer:
    """A running server; name and password are None if it requires none."""

    uri: str
    user: str | None = None
    password: str | None = None
    database: str | None = None
    browser_url: str | None = None
    """Address of Browser if the server was started with it."""
    process: "subprocess.Popen[str] | None" = None
    """The Java process that runs it, if it was started here."""

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


@dataclass(frozen=True)
class ServerProcess:
    """A Java process that runs servers, each with its folder and settings."""

    process: "subprocess.Popen[str]"
    errors: Path

    @contextmanager
    def server(
        self, home: Path, settings: Settings | None = None, *, has_browser: bool = False
    ) -> Iterator[Neo4jServer]:
        """Start a server in a folder; used again, the folder keeps its graph.

        It listens on loopback only, on free ports if settings name none.
        """
        configuration = LOOPBACK_ALONE | dict(settings or {})
        if has_browser:
            configuration["server.http.enabled"] = "true"
        (home / "conf").mkdir(parents=True, exist_ok=True)
        (home / "conf" / "neo4j.conf").write_text(
            "".join(f"{name}={setting}\n" for name, setting in configuration.items())
        )
        assert self.process.stdout is not None
        self._say(f"start {home}")
        said = next((line for line in self.process.stdout if line.startswith(_ANSWERS)), "")
        ready = re.match(r"ready bolt=(\d+)(?: http=(\d+))?", said)
        if ready is None:
            raise NoNeo4j(f"the server did not start: {self.errors.read_text()[-2000:]}")
        page = f"http://127.0.0.1:{ready[2]}/browser/" if has_browser else None
        try:
            yield Neo4jServer(
                f"bolt://127.0.0.1:{ready[1]}", browser_url=page, process=self.process
            )
        finally:
            if self.process.poll() is None:  # a test may have killed it
                self._say(f"stop {home}")

    def _say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()


@contextmanager
def server_process(
    folder: Path,
    *,
    version: str = VERSION,
    is_short_lived: bool = False,
    has_browser: bool = False,
) -> Iterator[ServerProcess]:
    """Start a Java process with Maven's artifacts; its errors are written into a folder.

    One that ``is_short_lived`` starts faster, and is slower afterwards. A second server in it needs
    a third of the first one's processor time, because its classes are compiled.
    """
    java = find_java(version)
    classes = [server_program(java, version), f"{server_libraries(version)}/*"]
    if has_browser:
        classes.append(f"{browser_artifact()}/*")
    options = [*_JAVA_OPTIONS, *(_SHORT_LIVED if is_short_lived else ())]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "stderr.txt").open("a") as errors:
        process = subprocess.Popen(
            [java, *options, "-cp", ":".join(map(str, classes)), "Serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    try:
        yield ServerProcess(process, folder / "stderr.txt")
    finally:
        process.kill()  # a normal shutdown takes seconds, and committed data stays without it
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


@contextmanager
def own_server(
    home: Path,
    settings: Settings | None = None,
    *,
    version: str = VERSION,
    is_short_lived: bool = False,
    has_browser: bool = False,
) -> Iterator[Neo4jServer]:
    """Start a server in a process of its own."""
    with (
        server_process(
            home, version=version, is_short_lived=is_short_lived, has_browser=has_browser
        ) as java,
        java.server(home, settings, has_browser=has_browser) as server,
    ):
        yield server


def with_password(server: Neo4jServer, password: str) -> Neo4jServer:
    """Set the password of a new server, and return the server with it."""
    import neo4j

    with neo4j.GraphDatabase.driver(server.uri, auth=("neo4j", "neo4j")) as driver:
        change = "ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $password"
        driver.execute_query(change, password=password, database_="system")
    return replace(server, user="neo4j", password=password)


def neo4j_admin(home: Path, *, version: str = VERSION) -> Path:
    """Write a `neo4j-admin` program for the server of that folder; NoNeo4j without Java."""
    java, libraries = find_java(version), server_libraries(version)
    (home / "conf").mkdir(parents=True, exist_ok=True)
    program = home / "neo4j-admin"
    program.write_text(
        "#!/bin/sh\n"
        f"NEO4J_HOME='{home}' NEO4J_CONF='{home}/conf' "
        f"exec {java} {' '.join((*_JAVA_OPTIONS, *_SHORT_LIVED))} -cp '{libraries}/*' "
        'org.neo4j.cli.AdminTool "$@"\n'
    )
    program.chmod(0o755)
    return program

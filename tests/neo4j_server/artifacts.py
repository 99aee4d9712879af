"""The parts of a Neo4j server: a Java, and artifacts that Maven fetches.

XLAGRAPH_NEO4J_VERSION=2026.08.1 selects the version of local servers. Java is the first that is
new enough of JAVA_HOME, the path and /usr/lib/jvm.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
LONG_TERM = "5.26.30"
NEWEST = "2026.08.1"
VERSION = os.environ.get("XLAGRAPH_NEO4J_VERSION") or LONG_TERM
BROWSER = "org.neo4j.client:neo4j-browser:5.24.0"
"""The last Browser published as an artifact; newer servers include a later one."""


class NoNeo4j(Exception):
    """No server is available here; the message says why."""


def find_java(version: str) -> str:
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


def server_libraries(version: str) -> Path:
    """Fetch what the server needs, once for each version."""
    pom = ("-f", str(HERE / "pom.xml"), f"-Dneo4j.version={version}")
    return _fetched(f"neo4j-{version}", *pom, "dependency:copy-dependencies")


def server_program(java: str, version: str) -> Path:
    """Compile the launcher of the server once; Java would need three seconds at each start."""
    source = HERE / "Serve.java"
    compiler = Path(shutil.which(java) or java).resolve().with_name("javac")
    if not compiler.exists():
        raise NoNeo4j(f"{java} has no compiler next to it: a JDK is needed")
    made_of = f"{version} {compiler} {source.read_text()}".encode()
    libraries = server_libraries(version)
    with _shared_folder(f"serve-{hashlib.sha256(made_of).hexdigest()[:16]}") as (folder, is_made):
        if not is_made:
            command: list[str | Path] = [compiler, "-cp", f"{libraries}/*", "-d", folder, source]
            subprocess.run(command, check=True)
    return folder


def browser_artifact() -> Path:
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
    """Yield a folder shared by test runs, and whether it exists; else the caller fills it."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = caches / "xlagraph-tests" / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the tests run in several processes
        yield folder, (folder / "complete").exists()
        (folder / "complete").touch()

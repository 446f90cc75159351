"""MCP's conformance suite, both sides, with no baseline: `python tests/conformance/run.py [REVISION...]`.

Installs the suite from npm into a folder beside pytest's cache, with the Node that it needs, and plays every scenario
that a revision requires: of clients against `McpServer`, of servers against `everything.py`. Everything is on this
machine. Ends with 1 where one fails.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from filelock import FileLock

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
FOLDER = ROOT / ".pytest_cache" / "d" / "mcp-conformance"
PACKAGES = ("@modelcontextprotocol/conformance@0.2.0-alpha.12", "node@22.23.3")
REVISIONS = ("2026-07-28", "2025-11-25")
_SECONDS = 120


def installed() -> list[str] | None:
    """The command of the suite, which is installed if it is not there; None where there is no npm to do that.

    By one process at a time: of those that run tests, several may come to need it at once.
    """
    suite = FOLDER / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    node = FOLDER / "node_modules" / ".bin" / "node"
    FOLDER.mkdir(parents=True, exist_ok=True)
    with FileLock(FOLDER.with_suffix(".lock")):
        if not suite.exists() or not node.exists():
            npm = shutil.which("npm")
            if npm is None:
                return None
            subprocess.run([npm, "install", "--prefix", str(FOLDER), "--no-audit", "--no-fund", *PACKAGES], check=True)
    return [str(node), str(suite)]


def scenarios(suite: list[str], revision: str) -> list[str]:
    """The client scenarios that a revision requires, in the suite's order."""
    listed = subprocess.run(
        [*suite, "list", "--client", "--requirements", revision], check=True, capture_output=True, text=True
    ).stdout
    section = listed.partition("Client scenarios")[2].partition("Run and reported")[0]
    return re.findall(r"^ *- (\S+)$", section, re.MULTILINE)


def passes(suite: list[str], scenario: str, revision: str) -> bool:
    """Play one scenario; what failed in it is shown."""
    client = f"{sys.executable} {Path(__file__).with_name('client.py')}"
    told = ["--command", client, "--scenario", scenario, "--spec-version", revision, "--timeout", f"{_SECONDS}000"]
    played = subprocess.run([*suite, "client", *told], check=False, capture_output=True, text=True, env=os.environ)
    said = re.sub(r"\x1b\[\d+m", "", played.stdout + played.stderr)
    passed = played.returncode == 0 and "OVERALL: PASSED" in said
    counts = re.search(r"Passed: .*", said)
    print(
        f"{'ok    ' if passed else 'FAILED'} {revision} {scenario}: {counts.group() if counts else 'no result'}",
        flush=True,
    )
    if not passed:
        print("\n".join(line for line in said.splitlines() if "FAILURE" in line or "Error" in line)[-4000:])
    return passed


def server_passes(suite: list[str], revision: str) -> list[bool]:
    """Play the server scenarios, all in one process; what failed is shown."""
    from tests.conformance.server import EVERYTHING, play, required, serving, wrong

    with serving(EVERYTHING, os.environ, ROOT) as url:
        found = play(suite, url, revision)
    results: list[bool] = []
    for name in required(suite, revision):
        failed = wrong(found[name]) if found.get(name) else {"nothing": "was checked"}
        print(f"{'FAILED' if failed else 'ok    '} {revision} server: {name} {failed or ''}".rstrip(), flush=True)
        results.append(not failed)
    return results


def main(revisions: list[str]) -> int:
    suite = installed()
    if suite is None:
        sys.exit("npm is needed to install the suite")
    results = [passed for revision in revisions for passed in server_passes(suite, revision)]
    results += [passes(suite, scenario, revision) for revision in revisions for scenario in scenarios(suite, revision)]
    print(f"{sum(results)} of {len(results)} scenarios passed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(REVISIONS)))

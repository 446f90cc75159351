"""A thousand clients at a time over loopback, for a minute: what is lost, how long answers take, what memory it takes.

    python tests/benchmark/clients.py [CLIENTS] [SECONDS]

Each client begins a script that makes one call, waits for its end, and begins the next. The host is a process of its
own, with tokens, a journal and the metrics; this one only asks. Prints; decides nothing.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import ssl
import sys
import tempfile
import time
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

import httpx2
import psutil

CONNECTOR = '''
from isolith import connector


@connector("crm")
class Crm:
    async def revenue(self, name: str) -> int:
        """Revenue of one contact."""
        return len(name)
'''
SCRIPT = {"script": "await crm.revenue(name='Ada') * 2", "wait_s": 600}
PROGRAM = str(Path(sys.executable).with_name("isolith"))


async def main(clients: int, seconds: float) -> None:
    folder = Path(tempfile.mkdtemp(prefix="isolith-clients-"))
    (folder / "crm.py").write_text(CONNECTOR)
    journal = {**os.environ, "ISOLITH_JOURNAL": str(folder / "journal.db")}
    made = await asyncio.create_subprocess_exec(
        PROGRAM, "tokens", "create", "bench", cwd=folder, env=journal, stdout=asyncio.subprocess.PIPE
    )
    token = (await made.communicate())[0].decode().strip()
    limits = ["--rate", "1000000", "--runs", str(clients)]
    command = [PROGRAM, "serve", "--http", "127.0.0.1:0", "--connect", "crm.py", *limits]
    host = await asyncio.create_subprocess_exec(*command, cwd=folder, env=journal, stderr=asyncio.subprocess.PIPE)
    assert host.stderr is not None
    said = ""
    while not (found := re.search(r"serving (http://\S+)/mcp", said)):
        said += (await host.stderr.readline()).decode()
    asyncio.create_task(_drain(host.stderr))  # noqa: RUF006 - as long as this runs
    await _measured(found[1], token, psutil.Process(host.pid), (clients, seconds))
    host.terminate()
    await host.wait()


async def _drain(stream: asyncio.StreamReader) -> None:
    while await stream.readline():
        pass


async def _measured(url: str, token: str, host: psutil.Process, size: tuple[int, float]) -> None:
    clients, seconds = size
    before, ended = host.memory_info().rss, asyncio.Event()
    cpu_before = sum(host.cpu_times()[:2])
    peaks = asyncio.create_task(_peak(host, ended))
    took, statuses, begun = list[float](), Counter[object](), set[str]()
    async with AsyncExitStack() as opened:
        # One connection each: a pool of a thousand looks through all of them for every request.
        tls, headers = ssl.create_default_context(), {"Authorization": f"Bearer {token}"}
        open_ = [httpx2.AsyncClient(headers=headers, timeout=900, verify=tls) for _ in range(clients)]
        many = [await opened.enter_async_context(http) for http in open_]
        began = time.monotonic()
        until = began + seconds

        async def client(http: httpx2.AsyncClient) -> None:
            while time.monotonic() < until:
                start = time.perf_counter()
                answer = await _asked(http, url, statuses)
                took.append(time.perf_counter() - start)
                told = answer.json()
                statuses[answer.status_code, told.get("status"), told.get("value")] += 1
                begun.add(told.get("execution_id", ""))

        await asyncio.gather(*map(client, many))
        whole = time.monotonic() - began
        cpu = sum(host.cpu_times()[:2]) - cpu_before
        ended.set()
        kept = await _kept(many[0], url)
    took.sort()
    part = {name: took[min(len(took) - 1, int(len(took) * share))] for name, share in SHARES.items()}
    print(f"{clients:,} clients, {len(took):,} runs, {len(took) / whole:,.1f} a second")
    print(f"lost: {len(begun - kept):,}; answers: {dict(statuses)}")
    print("seconds: " + ", ".join(f"{name} {value:.2f}" for name, value in part.items()))
    print(f"CPU of the host: {cpu / len(took) * 1e3:,.1f} ms a run; load of the machine: {os.getloadavg()[0]:.0f}")
    print(f"memory of the host: {before / 1e6:,.0f} MB before, {await peaks / 1e6:,.0f} MB at most")


async def _asked(http: httpx2.AsyncClient, url: str, statuses: Counter[object]) -> httpx2.Response:
    """Ask until it is answered, under one key: whatever breaks on the way begins nothing twice."""
    key = {"Idempotency-Key": secrets.token_hex(8)}
    while True:
        try:
            answer = await http.post(f"{url}/v1/executions", json=SCRIPT, headers=key)
        except httpx2.TransportError as error:
            statuses[type(error).__name__] += 1
            continue
        if answer.status_code not in {409, 429, 503}:
            return answer
        statuses[answer.status_code] += 1
        await asyncio.sleep(int(answer.headers["retry-after"]))


SHARES = {"half": 0.5, "p95": 0.95, "p99": 0.99, "all": 1.0}


async def _kept(http: httpx2.AsyncClient, url: str) -> set[str]:
    """Every execution that the journal has completed."""
    found, cursor = set[str](), ""
    while True:
        page = (await http.get(f"{url}/v1/executions?status=completed&limit=200{cursor}")).json()
        found |= {one["execution_id"] for one in page["executions"]}
        if page["next"] is None:
            return found
        cursor = f"&cursor={page['next']}"


async def _peak(host: psutil.Process, ended: asyncio.Event) -> int:
    most = 0
    while not ended.is_set():
        most = max(most, host.memory_info().rss)
        await asyncio.sleep(0.2)
    return most


if __name__ == "__main__":
    given = sys.argv[1:]
    asyncio.run(main(int(given[0]) if given else 1_000, float(given[1]) if given[1:] else 60.0))

"""Whether anything is served, and to whom: decided before the first request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isolith.code_mode import CodeMode
from isolith.command_line import serving
from isolith.command_line.serve_command import Address, entrance, read_address
from isolith.command_line.serving import STATE_KEY, security_of, serve_mcp, shared_key
from isolith.errors import UsageError
from isolith_runtime.image.doctor import Finding

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.anyio
async def test_a_limit_that_does_not_fire_keeps_the_server_from_serving(monkeypatch: pytest.MonkeyPatch) -> None:
    async def tripped() -> list[Finding]:
        fine = Finding("limit calls", ok=True, detail="fired")
        return [fine, Finding("limit cpu_ms", ok=False, detail="did not fire", mend="Mend it.")]

    async def served(*_: object) -> None:
        raise AssertionError("it served")

    monkeypatch.setattr(serving, "trip_limits", tripped)
    monkeypatch.setattr(serving, "_on_stdio", served)
    said: list[str] = []
    assert await serve_mcp(CodeMode(), None, said.append) is False
    assert said[0] == "isolith: limit cpu_ms: did not fire. Mend it."
    assert "nothing is served" in said[1]


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:8000", "127.0.0.1", 8000),
        ("[::1]:0", "::1", 0),
        ("localhost:80", "localhost", 80),
        ("127.9.9.9:1", "127.9.9.9", 1),
    ],
)
def test_addresses_of_this_machine(text: str, host: str, port: int) -> None:
    assert read_address(text, []) == Address(host, port)


@pytest.mark.parametrize(
    "text", ["", "8000", ":8000", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:-1", "a:65536"]
)
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(UsageError, match="HOST:PORT"):
        read_address(text, [])


@pytest.mark.parametrize("host", ["0.0.0.0", "[::]", "10.0.0.1", "example.com", "127.0.0.1.example.com"])
def test_others_reach_it_only_where_a_host_is_named(host: str) -> None:
    with pytest.raises(UsageError, match="--allow-host"):
        read_address(f"{host}:80", [])
    assert read_address(f"{host}:80", ["mcp.example.com"]).hosts == ("mcp.example.com",)


def test_nobody_is_let_in_unasked_from_elsewhere() -> None:
    assert entrance(None, [], stdio=True, auth=True) is None
    served = entrance("127.0.0.1:0", [], stdio=False, auth=False)
    assert served is not None
    assert not served.auth
    for http, hosts in (("127.0.0.1:0", ["a.example"]), ("10.0.0.1:0", ["a.example"])):
        with pytest.raises(UsageError, match=r"127\.0\.0\.1 alone"):
            entrance(http, hosts, stdio=False, auth=False)
        assert entrance(http, hosts, stdio=False, auth=True) is not None
    for named, auth in ((["a"], True), ([], False)):
        with pytest.raises(UsageError, match="is about `--http`"):
            entrance(None, named, stdio=False, auth=auth)


def test_hosts_and_origins_are_checked_for_every_address() -> None:
    security = security_of(Address("0.0.0.0", 80, ("mcp.example.com",)))
    assert security.enable_dns_rebinding_protection
    assert {"mcp.example.com", "mcp.example.com:*", "localhost:*"} <= set(security.allowed_hosts)
    assert "https://mcp.example.com" in security.allowed_origins
    assert {"127.0.0.1", "localhost"} <= set(security.allowed_hosts)  # of a server at port 80
    assert not {"*", "*:*"} & {*security.allowed_hosts, *security.allowed_origins}


def test_the_key_is_made_once_and_is_the_users_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    key = shared_key(folder)
    assert len(key) == 32
    assert shared_key(folder) == key
    (kept,) = folder.iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    kept.write_bytes(b"short")
    with pytest.raises(UsageError, match="no key"):
        shared_key(folder)


def test_the_key_that_several_machines_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STATE_KEY, "k" * 64)
    assert shared_key(tmp_path / "data") == b"k" * 64
    assert not (tmp_path / "data").exists()
    monkeypatch.setenv(STATE_KEY, "short")
    with pytest.raises(UsageError, match="32 bytes at least") as refused:
        shared_key(tmp_path)
    assert "short" not in str(refused.value)

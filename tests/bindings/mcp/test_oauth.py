"""OAuth against an authorization server of this machine: signing in, renewing, and nobody there."""

from __future__ import annotations

import asyncio
import json
import stat
import urllib.request
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from tests.bindings.mcp.bench import PATIENCE_S, connected, free_port
from tests.bindings.mcp.faulty_http import Faulty, Handler, faulty_http

from isolith_bindings.mcp.descriptions import HttpServer
from isolith_bindings.mcp.oauth import OAuth
from isolith_bindings.mcp.tokens import FileTokenStore, MemoryTokenStore
from isolith_bindings.secrets import Secret, redact

pytestmark = pytest.mark.anyio


class Guarded(Handler):
    """Lets in who has the last token that was given out. `faulty.body` counts as the log of grants."""

    def do_GET(self) -> None:  # noqa: N802
        base = f"http://{self.headers['host']}"
        url = urlsplit(self.path)
        if url.path.startswith("/.well-known/oauth-protected-resource"):
            self._json({"resource": f"{base}/mcp", "authorization_servers": [base]})
        elif url.path == "/.well-known/oauth-authorization-server":
            ends = {f"{name}_endpoint": f"{base}/{name}" for name in ("token", "authorize", "register")}
            ends["authorization_endpoint"], ends["registration_endpoint"] = f"{base}/authorize", f"{base}/register"
            methods = ["client_secret_basic", "client_secret_post", "none"]
            more = {"response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"]}
            self._json({"issuer": base, **ends, **more, "token_endpoint_auth_methods_supported": methods})
        elif url.path == "/authorize":
            query = {name: values[0] for name, values in parse_qs(url.query).items()}
            self.send_response(302)
            back = urlencode({"code": "the-code", "state": query["state"], "iss": base})
            self.send_header("Location", f"{query['redirect_uri']}?{back}")
            self._no_body()
        else:
            self._end(404)

    def do_POST(self) -> None:  # noqa: N802
        if self.path == "/register":
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            self._json({**asked, "client_id": "registered"}, 201)
        elif self.path == "/token":
            form = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
            self.faulty.body += form["grant_type"][0].encode() + b" "
            number = len(self.faulty.body.split())
            tokens = {"access_token": f"access-token-{number}", "refresh_token": f"refresh-token-{number}"}
            self._json({**tokens, "token_type": "Bearer", "expires_in": 3600})
        elif self.headers["authorization"] == f"Bearer access-token-{len(self.faulty.body.split())}":
            super().do_POST()
        else:
            self.rfile.read(int(self.headers["content-length"]))
            metadata = f"http://{self.headers['host']}/.well-known/oauth-protected-resource/mcp"
            self.send_response(401)
            self.send_header("WWW-Authenticate", f'Bearer resource_metadata="{metadata}"')
            self._no_body()


async def browse(url: str) -> None:
    """What a browser does with the URL of a page that asks nothing."""

    def get() -> None:
        with urllib.request.urlopen(url) as page:  # noqa: S310 - of this machine
            assert b"You are signed in" in page.read()

    asyncio.get_running_loop().run_in_executor(None, get)


@pytest.mark.parametrize("modern", [False, True])
async def test_a_person_signs_in_once_and_the_tokens_are_renewed(modern: bool, tmp_path: Path) -> None:
    path = tmp_path / "state" / "tokens.json"
    oauth = OAuth(redirect_port=free_port(), store=FileTokenStore(path))
    with faulty_http(Faulty(modern=modern), Guarded) as told:
        async with connected(HttpServer(told.url, oauth=oauth), ready=False) as bench:
            assert not await bench.connector.ready(PATIENCE_S)
            assert bench.connector.status().state == "needs_auth"
            assert bench.connector.status().reason == f"{told.url}: it wants a person to sign in"
            signed = await bench.connector.sign_in(browse, PATIENCE_S)
            assert (signed.ok, signed.reason) == (True, None)
            assert await bench.call("work", region="eu") == {"region": "eu"}
        assert told.body.split() == [b"authorization_code"]
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert redact("access-token-1") == "[secret]"
        # Another process, later: the token has expired, and is renewed without anyone.
        _expire(path)
        later = OAuth(redirect_port=oauth.redirect_port, store=FileTokenStore(path))
        async with connected(HttpServer(told.url, oauth=later)) as bench:
            assert await bench.call("work") == {}
        assert told.body.split() == [b"authorization_code", b"refresh_token"]


def _expire(path: Path) -> None:
    entries = json.loads(path.read_text())
    for key, text in entries.items():
        entries[key] = json.dumps({**json.loads(text), "expires_at": 1.0})
    path.write_text(json.dumps(entries))


async def test_a_client_with_credentials_of_its_own_needs_nobody() -> None:
    oauth = OAuth(
        client_id="robot",
        client_secret=Secret.literal("robot-secret"),
        grant="client_credentials",
        store=MemoryTokenStore(),
    )
    with faulty_http(Faulty(), Guarded) as told:
        async with connected(HttpServer(told.url, oauth=oauth)) as bench:
            calls = [bench.call("work", region=str(number)) for number in range(5)]
            assert await asyncio.gather(*calls) == [{"region": str(number)} for number in range(5)]
    assert told.body.split() == [b"client_credentials"]
    assert "robot-secret" not in repr(oauth)


async def test_whoever_does_not_sign_in_is_told_so(tmp_path: Path) -> None:
    async def refuse(url: str) -> None:
        redirect = parse_qs(urlsplit(url).query)["redirect_uri"][0]

        def get() -> None:
            with urllib.request.urlopen(f"{redirect}?error=access_denied") as page:  # noqa: S310 - as above
                assert b"Nobody was signed in" in page.read()

        asyncio.get_running_loop().run_in_executor(None, get)

    oauth = OAuth(redirect_port=free_port())
    with faulty_http(Faulty(), Guarded) as told:
        async with connected(HttpServer(told.url, oauth=oauth), ready=False) as bench:
            signed = await bench.connector.sign_in(refuse, PATIENCE_S)
            assert not signed.ok
            assert signed.reason == f"{told.url}: nobody was signed in: access_denied"


async def test_a_file_that_something_else_wrote_is_no_token(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    store = FileTokenStore(path)
    assert await store.load("a") is None
    for text in ("", "[]", "{", '{"a": 1}', "[" * 100_000, '{"a":' * 1500 + '""' + "}" * 1500):
        path.write_text(text)
        assert await store.load("a") is None
    await store.save("a", "one")
    await store.save("b", "two")
    assert (await store.load("a"), await store.load("b")) == ("one", "two")

"""`isolith serve` behind an authorization server: the SDK's client finds it, gets a token, and runs scripts with it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata
from pydantic import AnyUrl
from tests.authorization_server import CLIENT, issuer
from tests.e2e.serving import served, with_images

if TYPE_CHECKING:
    from pathlib import Path

    from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

    from isolith_runtime.driver import Supply

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

BACK = "http://127.0.0.1:1/back"
READY = "is let in\n"


@pytest.fixture
def folder(tmp_path: Path, supply: Supply) -> Path:
    return with_images(tmp_path)


class Browser:
    """Where a client sends its person, who agrees; and what the client keeps of it."""

    def __init__(self) -> None:
        self.asked: dict[str, str] = {}
        self._tokens: OAuthToken | None = None
        self._client: OAuthClientInformationFull | None = None

    async def visit(self, url: str) -> None:
        self.asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        async with httpx2.AsyncClient(timeout=240) as http:
            sent = await http.get(url)
        self._back = {name: values[0] for name, values in parse_qs(urlsplit(sent.headers["location"]).query).items()}

    async def came_back(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**self._back)

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info


async def test_a_client_that_knows_the_address_alone_signs_in_and_runs_a_script(folder: Path) -> None:
    browser = Browser()
    async with issuer() as known, served(folder, "--oauth-issuer", known.url, until=READY) as host:
        url, said = f"{host.url}/mcp", host.said
        assert f"who has a token of {known.url} for {url} is let in" in said
        metadata = OAuthClientMetadata(client_name="a test", redirect_uris=[AnyUrl(BACK)])
        auth = OAuthClientProvider(url, metadata, browser, browser.visit, browser.came_back)
        async with (
            httpx2.AsyncClient(auth=auth, timeout=240) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            done = await client.call_tool("execute", {"code": "6 * 7"})
            assert done.structured_content is not None
            assert done.structured_content["value"] == 42
        assert (browser.asked["resource"], browser.asked["scope"]) == (url, "execute")  # and nothing that decides
        assert known.asked.count("/token") == 1
        api = url.removesuffix("/mcp")
        async with httpx2.AsyncClient(timeout=240) as http:
            await refused(http, url, known.token("https://other.example/mcp"), 401)
            await refused(http, url, known.token(url, "email"), 403)
            mine = {"Authorization": f"Bearer {known.token(url)}"}
            [run] = (await http.get(f"{api}/v1/executions", headers=mine)).json()["executions"]
            assert run["principal"] == "ada"
            other = {"Authorization": f"Bearer {known.token(url, subject='eve')}"}
            assert (await http.get(f"{api}/v1/executions", headers=other)).json()["executions"] == []
            decides = await http.post(f"{api}/v1/connectors/none/reconnect", json={}, headers=mine)
            assert decides.status_code == 403


async def refused(http: httpx2.AsyncClient, url: str, token: str, status: int) -> None:
    answer = await http.post(url, json={}, headers={"Authorization": f"Bearer {token}"})
    told = answer.headers["www-authenticate"]
    origin, path = url.removesuffix("/mcp"), "/.well-known/oauth-protected-resource/mcp"
    assert (answer.status_code, f'resource_metadata="{origin}{path}"' in told) == (status, True)


async def test_the_server_is_asked_about_tokens_that_say_nothing(folder: Path) -> None:
    async with issuer(opaque=True) as known:
        flags = ("--oauth-issuer", known.url, "--oauth-client", CLIENT[0])
        async with (
            served(folder, *flags, until=READY, ISOLITH_OAUTH_SECRET=CLIENT[1]) as host,
            httpx2.AsyncClient(timeout=240) as http,
        ):
            url = f"{host.url}/mcp"
            token = known.token(url)
            path = f"{url.removesuffix('/mcp')}/v1/executions"
            headers = {"Authorization": f"Bearer {token}"}
            made = await http.post(path, json={"script": "6 * 7"}, headers=headers)
            assert made.json()["value"] == 42
            known.down = True
            later = await http.get(path, headers=headers)
            assert (later.status_code, later.headers["retry-after"]) == (503, "5")
            known.down = False
            known.revoked.add(token)
            assert (await http.get(path, headers=headers)).status_code == 401

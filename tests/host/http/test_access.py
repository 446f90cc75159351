"""Who is let in, to what, how often; and that whoever is not learns nothing."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from mcp.client import Client
from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from tests.host.http.conftest import app_of, journal_of, token_for

from isolith.command_line.serve_command import Address
from isolith.command_line.serving import security_of
from isolith.http import house
from isolith.http.app import App, Door, OAuth
from isolith.http.rates import Limits
from isolith.journal.tokens import NewToken
from isolith.mcp.server import mcp_server
from isolith.tokens import mint

if TYPE_CHECKING:
    from tests.host.http.conftest import Api, Opened

pytestmark = pytest.mark.anyio


async def test_without_a_token_nothing_is_told(api: Api) -> None:
    for path in ("/v1/executions", "/v1/catalog", "/metrics"):
        refused = await api.get(path, None)
        assert (refused.status_code, refused.json()["kind"]) == (401, "denied")
        assert refused.headers["www-authenticate"].startswith("Bearer")
    healthy = await api.get("/healthz", None)
    assert (healthy.status_code, healthy.json()) == (200, {"status": "ok"})
    assert (await api.post("/v1/executions", {"script": "1"}, None)).status_code == 401
    assert (await api.get("/v1/executions", "root")).json()["executions"] == []


async def test_tokens_that_open_nothing(api: Api) -> None:
    journal = await journal_of(api.code_mode)
    good, old = api.tokens["ada"], mint()
    past = datetime.now(UTC) - timedelta(seconds=1)
    await journal.tokens.add(NewToken(old.token_id, old.digest, "ada", ("execute",), "a test", past))
    flipped = good[:-1] + ("0" if good[-1] != "0" else "1")
    for token in ("", "x", flipped, good.upper(), good + "0", old.text, mint().text, good[:-1], f"{good} {good}"):
        refused = await api.get("/v1/executions", None, headers={"Authorization": f"Bearer {token}"})
        assert refused.status_code == 401, token
    twice = [("Authorization", f"Bearer {good}"), ("Authorization", f"Bearer {good}"), ("Host", "127.0.0.1:8000")]
    async with api.http as http:
        assert (await http.get("/v1/executions", headers=twice)).status_code == 401
    assert (await api.get("/v1/executions")).status_code == 200
    await journal.tokens.revoke(good.split("_")[1], "a test")
    assert (await api.get("/v1/executions")).status_code == 401


async def test_the_description_of_the_api_is_read_without_a_token(api: Api) -> None:
    described = await api.get("/v1/openapi.json", None)
    assert (described.status_code, "/v1/executions" in described.json()["paths"]) == (200, True)
    refused = await api.get("/v1/openapi.json", None, headers={"Authorization": "Bearer x"})
    assert (refused.status_code, refused.json()) == (200, described.json())


async def test_a_token_that_opens_nothing_is_told_apart_from_none_and_not_from_another(api: Api) -> None:
    journal, old = await journal_of(api.code_mode), mint()
    past = datetime.now(UTC) - timedelta(seconds=1)
    await journal.tokens.add(NewToken(old.token_id, old.digest, "ada", ("execute",), "a test", past))
    await journal.tokens.revoke(api.tokens["eve"].split("_")[1], "a test")
    app = app_of(api.code_mode, server=mcp_server(api.code_mode))
    api = replace(api, app=app)
    for path in ("/v1/executions", "/mcp"):
        answers = [
            await api.get(path, None, headers={"Authorization": f"Bearer {token}"})
            for token in ("x", mint().text, old.text, api.tokens["eve"])
        ]
        assert {(each.status_code, each.headers["www-authenticate"]) for each in answers} == {
            (401, 'Bearer realm="isolith", error="invalid_token"')
        }
        assert {each.json()["detail"] for each in answers} == {
            "this token is unknown, expired or revoked: `isolith tokens create NAME --scope execute` makes one at this"
            " host"
        }
    none = await api.get("/v1/executions", None)
    assert none.json()["detail"] == "send a token: `Authorization: Bearer ...`"
    assert none.headers["www-authenticate"] == 'Bearer realm="isolith"'


async def test_a_principal_sees_its_own_runs_and_an_approver_all(api: Api) -> None:
    mine = await api.run("artifact(b'x', mime='text/html', name='a.html')")
    where = f"/v1/executions/{mine['execution_id']}"
    file = f"/v1/artifacts/{mine['execution_id']}/{mine['artifacts'][0]['handle']}"
    for path in (where, f"{where}/events", file):
        assert (await api.get(path)).status_code == 200
        assert (await api.get(path, "grace")).status_code == 200
        hidden, absent = await api.get(path, "eve"), await api.get(path.replace(mine["execution_id"], "0" * 32), "eve")
        assert (hidden.status_code, absent.status_code) == (404, 404)
        assert hidden.text.replace(mine["execution_id"], "") == absent.text.replace("0" * 32, "")
    for action in ("cancel", "retry"):
        assert (await api.post(f"{where}/{action}", {}, "eve")).status_code == 404
    assert (await api.get("/v1/executions", "eve")).json()["executions"] == []
    assert (await api.get("/v1/executions?principal=ada", "eve")).json()["executions"] == []
    [seen] = (await api.get("/v1/executions?principal=ada", "grace")).json()["executions"]
    assert seen["principal"] == "ada"


async def test_scopes(api: Api) -> None:
    assert (await api.post("/v1/connectors/bank/reconnect", {}, "grace")).status_code == 403
    assert (await api.post("/v1/connectors/bank/reconnect", {}, "root")).status_code == 409  # it is no server
    assert (await api.post("/v1/connectors/none/reconnect", {}, "root")).status_code == 404
    assert (await api.get("/v1/catalog", "root")).status_code == 200


async def test_who_decides_may_read_what_is_decided_about_and_run_nothing(api: Api) -> None:
    """A token with the scope `approve` alone used to be able to approve what it could not see."""
    journal = await journal_of(api.code_mode)
    api.tokens["bob"] = await token_for(journal, "bob", "approve")
    paused = await api.run("artifact(b'x', name='a.txt')\nawait bank.pay(to='Ada')")
    where = f"/v1/executions/{paused['execution_id']}"
    file = f"/v1/artifacts/{paused['execution_id']}/{paused['artifacts'][0]['handle']}"
    for path in ("/v1/executions", where, file, "/v1/approvals", "/v1/snippets"):
        assert (await api.get(path, "bob")).status_code == 200, path
    assert (await api.get("/v1/snippets/none/1", "bob")).status_code == 404
    for path in ("/v1/catalog", "/v1/search?query=pay", "/v1/settings"):
        assert (await api.get(path, "bob")).status_code == 403, path
    refused = await api.post("/v1/executions", {"script": "1"}, "bob")
    assert (refused.status_code, refused.json()["detail"]) == (403, "this needs a token with the scope `execute`")
    [waiting] = (await api.get("/v1/approvals", "bob")).json()["pending"]
    address = f"/v1/approvals/{waiting['execution_id']}/{waiting['number']}/approve"
    decided = await api.post(address, {"digest": waiting["digest"]}, "bob")
    assert (decided.status_code, decided.json()["status"]) == (200, "completed")
    events = await api.get(f"{where}/events", "bob", headers={"Accept": "application/x-ndjson"})
    assert '"who": "bob"' in events.text


async def test_an_artifact_is_a_file_and_never_a_page_of_ours(api: Api) -> None:
    made = await api.run("artifact(b'<script>', mime='text/html; x\\r\\nSet-Cookie: a', name='a')")
    file = await api.get(f"/v1/artifacts/{made['execution_id']}/{made['artifacts'][0]['handle']}")
    assert (file.content, file.headers["content-disposition"]) == (b"<script>", "attachment")
    assert (file.headers["content-type"], "set-cookie" in file.headers) == ("application/octet-stream", False)
    assert "sandbox" in file.headers["content-security-policy"]


async def test_too_much_at_a_time_is_told_when_to_come_back(opened: Opened) -> None:
    api = await opened(Limits(per_second=0.01, burst=2, runs=1))
    first = await api.post("/v1/executions", {"script": "await bank.wait()", "wait_s": 0})
    second = await api.post("/v1/executions", {"script": "1"})
    assert (first.status_code, second.status_code) == (202, 429)
    assert "runs are under way" in second.json()["detail"]
    third = await api.get("/v1/executions")
    assert (third.status_code, third.json()["retriable"]) == (429, True)
    assert 0 < int(third.headers["retry-after"]) <= 100  # less, by the seconds that a busy machine took until then
    assert (await api.get("/v1/executions", "eve")).status_code == 200  # of each principal
    api.bank.answer.set()


async def test_whoever_comes_to_a_full_host_waits_for_a_turn(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    api = await opened(Limits(host_runs=1))
    begun = await api.run("await bank.wait()", wait_s=0)
    await api.bank.asked.wait()
    waiting = asyncio.create_task(api.post("/v1/executions", {"script": "6 * 7"}, "eve"))
    await asyncio.wait([waiting], timeout=0.2)
    assert not waiting.done()
    api.bank.answer.set()
    assert (await waiting).json()["value"] == 42
    assert (await api.get(f"/v1/executions/{begun['execution_id']}")).json()["value"] == "waited"
    api.bank.answer.clear()
    await api.run("await bank.wait()", wait_s=0)
    monkeypatch.setattr(house, "_TURN_S", 0.01)
    refused = await api.post("/v1/executions", {"script": "6 * 7"})
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
    api.bank.answer.set()


async def test_when_a_token_was_used_last_is_kept(api: Api) -> None:
    await api.get("/v1/executions")
    journal = await journal_of(api.code_mode)
    while (token := await journal.tokens.get(api.tokens["ada"].split("_")[1])) is None or token.used_at is None:
        pass
    assert api.tokens["ada"].split("_")[2] not in repr(await journal.tokens.find())


async def test_where_it_is_asked_for_and_from(api: Api) -> None:
    for headers, status in (
        ({"Host": "rebound.example"}, 421),
        ({"Host": ""}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Host": "localhost"}, 200),
    ):
        for path in ("/v1/executions", "/healthz"):
            assert (await api.get(path, headers=headers)).status_code == status, headers


async def test_what_runs_out_says_so(api: Api) -> None:
    app = app_of(api.code_mode)
    api.app = app
    app.house.stopping.set()
    assert (await api.get("/healthz")).status_code == 503
    refused = await api.post("/v1/executions", {"script": "1"})
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "2")
    assert (await api.get("/v1/executions")).status_code == 200


class Elsewhere:
    """Knows the tokens of an authorization server."""

    async def verify_token(self, token: str) -> AccessToken | None:
        if token != "of-ada":  # noqa: S105 - of nobody
            return None
        return AccessToken(
            token="-",  # noqa: S106
            client_id="an app",
            subject="ada",
            scopes=["execute", "email"],
        )


async def test_tokens_of_an_authorization_server(api: Api) -> None:
    server = mcp_server(api.code_mode)
    oauth = OAuth("https://login.example.com", "https://mcp.example.com/mcp")
    door = Door(security_of(Address("127.0.0.1", 8000)), Elsewhere(), oauth=oauth)
    api.app = App(api.code_mode, door, server)
    api.tokens["ada"] = "of-ada"
    made = await api.run("1")
    order = await (await journal_of(api.code_mode)).executions.order(made["execution_id"])
    assert order.principal == "ada"
    assert (await api.post("/v1/connectors/bank/reconnect")).status_code == 403
    refused = await api.post("/mcp", {}, None)
    where = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
    assert (refused.status_code, f'resource_metadata="{where}"' in refused.headers["www-authenticate"]) == (401, True)
    told = (await api.get("/.well-known/oauth-protected-resource/mcp", None)).json()
    assert (told["resource"], told["scopes_supported"]) == (oauth.resource, ["execute"])
    assert told["authorization_servers"] == [oauth.issuer]


async def test_mcp_knows_of_no_run_of_another_principal(api: Api) -> None:
    made = await api.run("await bank.pay(to='Ada')")

    async def resumed(who: str, *scopes: str) -> str:
        user = AuthenticatedUser(AccessToken(token="-", client_id=who, subject=who, scopes=list(scopes)))  # noqa: S106
        mark = auth_context_var.set(user)
        try:
            async with Client(mcp_server(api.code_mode)) as client:
                result = await client.call_tool("resume", {"execution_id": made["execution_id"]})
                begun = await client.call_tool("execute", {"code": "1"})
        finally:
            auth_context_var.reset(mark)
        assert begun.structured_content is not None
        order = await (await journal_of(api.code_mode)).executions.order(begun.structured_content["execution_id"])
        assert order.principal == who
        return str(result.structured_content or result.content)

    assert "paused" in await resumed("ada", "execute")
    assert "there is no execution" in await resumed("eve", "execute")
    assert "paused" in await resumed("grace", "execute", "approve")

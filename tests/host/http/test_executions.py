"""Executions over HTTP: the same outcomes as everywhere, kept, listed, begun once for each key."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from isolith import CodeMode
from isolith.command_line.serve_command import Address
from isolith.command_line.serving import security_of
from isolith.errors import UsageError
from isolith.http.app import App, Door
from isolith.http.rates import Limits

if TYPE_CHECKING:
    from tests.host.http.conftest import Api, Opened

pytestmark = pytest.mark.anyio


async def test_an_outcome_is_that_of_every_other_door(api: Api) -> None:
    answer = await api.post(
        "/v1/executions",
        {"script": "await bank.balance(name=input)", "input": "Ada", "session": "s", "budgets": {"calls": 1}},
    )
    told = answer.json()
    assert (answer.status_code, told["status"], told["value"]) == (201, "completed", 3)
    where = answer.headers["location"]
    assert where == f"/v1/executions/{told['execution_id']}"
    again = await api.get(where)
    assert (again.status_code, again.json()) == (200, told)
    library = await (await api.code_mode.runs()).outcome(told["execution_id"])
    assert library.to_json() == told
    order = await (await api.code_mode.runs()).journal.executions.order(told["execution_id"])
    assert (order.principal, order.session) == ("ada", "s")


@pytest.mark.parametrize(
    ("script", "kind"),
    [("1 +", "syntax"), ("ls -la /", "not_a_script"), ("await bank.pya()", "unknown_tool"), ("1/0", "exception")],
)
async def test_a_script_that_fails_is_an_outcome_that_is_kept(api: Api, script: str, kind: str) -> None:
    told = await api.run(script)
    assert (told["status"], told["error"]["kind"]) == ("failed", kind)
    kept = await api.get(f"/v1/executions/{told['execution_id']}")
    assert kept.json()["error"]["kind"] == kind


async def test_who_does_not_wait_gets_it_later_and_it_is_kept_already(api: Api) -> None:
    begun = await api.run("await bank.wait()", wait_s=0)
    assert begun["status"] == "running"
    await api.bank.asked.wait()
    path = f"/v1/executions/{begun['execution_id']}"
    assert (await api.get(path)).status_code == 202
    assert (await api.get("/v1/executions?status=running")).json()["executions"][0]["execution_id"] == begun[
        "execution_id"
    ]
    api.bank.answer.set()
    execution = api.code_mode.find(begun["execution_id"])
    assert execution is not None
    await execution.outcome()
    assert (await api.get(path)).json()["value"] == "waited"


async def test_a_run_that_was_asked_to_end_has_ended(api: Api) -> None:
    begun = await api.run("await bank.wait()", wait_s=0)
    await api.bank.asked.wait()
    ended = await api.post(f"/v1/executions/{begun['execution_id']}/cancel")
    assert (ended.status_code, ended.json()["status"]) == (200, "cancelled")
    refused = await api.post(f"/v1/executions/{begun['execution_id']}/cancel")
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:isolith:problem:wrong-status")


@pytest.mark.parametrize("headers", [{}, {"Content-Type": "application/json"}, {"Content-Type": "text/plain"}])
async def test_no_body_is_an_empty_one_where_nothing_has_to_be_in_it(api: Api, headers: dict[str, str]) -> None:
    """As `curl -X POST` sends it; it used to be refused as no JSON."""
    paused = await api.run("await bank.pay(to='Ada')")
    where = f"/v1/executions/{paused['execution_id']}"
    approved = await api.ask("POST", f"/v1/approvals/{paused['execution_id']}/1/approve", "grace", headers=headers)
    assert approved.status_code in {400, 415}  # a digest has to be
    ended = await api.ask("POST", f"{where}/cancel", headers=headers)
    assert (ended.status_code, ended.json().get("status")) == (200, "cancelled")


async def test_a_body_that_is_there_is_json_all_the_same(api: Api) -> None:
    paused = await api.run("await bank.pay(to='Ada')")
    where = f"/v1/executions/{paused['execution_id']}/cancel"
    assert (await api.ask("POST", where, content=b"{}")).status_code == 415
    assert (await api.ask("POST", where, content=b"{", headers={"Content-Type": "application/json"})).status_code == 400
    assert (await api.post(where, {"wait": 1})).status_code == 422


async def test_retry_and_rollback(api: Api) -> None:
    paused = await api.run("await bank.pay(to='Ada')\nawait bank.balance(name='Ada')\n1/0")
    [call] = paused["pending"]
    where = f"/v1/executions/{paused['execution_id']}"
    await api.post(f"/v1/approvals/{paused['execution_id']}/1/approve", {"digest": call["digest"]}, "grace")
    assert api.bank.paid == ["Ada 1"]
    again = await api.post(f"{where}/retry")
    assert (again.status_code, again.json()["status"]) == (200, "failed")
    assert api.bank.paid == ["Ada 1"]  # what succeeded was not made again
    forbidden = await api.post(f"{where}/rollback")
    assert forbidden.status_code == 403
    undone = await api.post(f"{where}/rollback", who="grace")
    assert (undone.status_code, undone.json()["status"]) == (200, "rolled_back")
    assert api.bank.paid == []
    assert (await api.post(f"{where}/retry")).status_code == 409


async def test_pages_show_each_execution_once(api: Api) -> None:
    ids = {(await api.run(str(number)))["execution_id"] for number in range(5)}
    found, cursor = list[str](), ""
    while True:
        page = (await api.get(f"/v1/executions?limit=2{cursor}")).json()
        found += [one["execution_id"] for one in page["executions"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert (len(found), set(found)) == (5, ids)
    assert (await api.get("/v1/executions?cursor=anything")).status_code == 422


async def with_key(api: Api, key: str, body: dict[str, Any], who: str = "ada") -> tuple[int, dict[str, Any], bool]:
    answer = await api.post("/v1/executions", body, who, headers={"Idempotency-Key": key})
    return answer.status_code, answer.json(), "idempotency-replayed" in answer.headers


async def test_a_key_begins_one_execution_whichever_host_is_asked(opened: Opened) -> None:
    one, two = await opened(), await opened()
    body = {"script": "await bank.balance(name='Ada')"}
    asked = await asyncio.gather(*(with_key(api, "k", body) for api in (one, two, one, two)))
    settled = [await with_key(one, "k", body) if told[0] == 409 else told for told in asked]
    assert {told["execution_id"] for _, told, _ in settled} == {settled[0][1]["execution_id"]}
    assert [told["value"] for _, told, _ in settled] == [3] * 4
    waited = await with_key(two, "k", {**body, "wait_s": 5})  # for how long is no part of what is asked
    assert (waited[1]["execution_id"], waited[2]) == (settled[0][1]["execution_id"], True)
    assert len((await one.get("/v1/executions")).json()["executions"]) == 1
    status, problem, _ = await with_key(two, "k", {"script": "2"})
    assert (status, problem["type"]) == (422, "urn:isolith:problem:other-request")
    assert (await with_key(one, "k", {"script": "2"}, "eve"))[0] == 201  # whose key it is counts
    assert (await with_key(one, "two words", body))[0] == 422


async def test_a_key_whose_run_was_refused_begins_one_as_soon_as_it_is_asked_again(opened: Opened) -> None:
    api = await opened(Limits(runs=1))
    await api.run("await bank.wait()", wait_s=0)
    body = {"script": "6 * 7", "wait_s": 60}
    assert (await with_key(api, "k", body))[0] == 429
    api.bank.answer.set()
    while (told := await with_key(api, "k", body))[0] == 429:
        pass  # the run before it is ending
    assert (told[0], told[1]["value"], told[2]) == (201, 42, False)


async def test_a_script_may_be_called_code_as_mcp_calls_it(api: Api) -> None:
    answer = await api.post("/v1/executions", {"code": "6 * 7"}, headers={"Idempotency-Key": "once"})
    assert (answer.status_code, answer.json()["value"]) == (201, 42)
    again = await api.post("/v1/executions", {"script": "6 * 7"}, headers={"Idempotency-Key": "once"})
    assert again.json()["execution_id"] == answer.json()["execution_id"]
    both = await api.post("/v1/executions", {"script": "1", "code": "2"})
    assert (both.status_code, both.json()["kind"]) == (422, "invalid_input")
    assert "script" in (await api.post("/v1/executions", {})).json()["detail"]


async def test_an_api_needs_a_journal() -> None:
    async with CodeMode() as code_mode:
        with pytest.raises(UsageError, match="journal"):
            App(code_mode, Door(security_of(Address("127.0.0.1", 1)), None))


async def test_what_is_told_is_json_whatever_the_script_answers(api: Api) -> None:
    told = await api.run("[float('nan'), 'ü', 2**70, b'x', {1: 2}]")
    assert told["value"] == ["NaN", "ü", 2**70, "eA==", {"1": 2}]
    text = (await api.get(f"/v1/executions/{told['execution_id']}")).content
    assert json.loads(text.decode())["value"] == told["value"]

"""What a host says of its settings is what counts there: each is changed, and looked for."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from tests.host.http.conftest import app_of, journal_of, token_for

from isolith import Budgets, CodeMode
from isolith.budgets import CEILINGS, HostPolicy
from isolith.http.rates import Limits
from isolith_bindings.policy import Policy
from isolith_bindings.rules import Rule

if TYPE_CHECKING:
    from pathlib import Path

    from tests.host.http.conftest import Api

    from isolith_runtime.driver import Supply

pytestmark = pytest.mark.anyio


async def told(code_mode: CodeMode, limits: Limits | None = None) -> dict[str, Any]:
    token = await token_for(await journal_of(code_mode), "root", "admin")
    transport = httpx2.ASGITransport(app=app_of(code_mode, limits))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as http:
        answer = await http.get("/v1/settings", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_they_are_for_whoever_runs_the_host(api: Api) -> None:
    assert (await api.get("/v1/settings", "grace")).status_code == 403
    assert set((await api.get("/v1/settings", "root")).json()) == {"limits", "ceilings", "policy"}


async def test_each_limit(api: Api) -> None:
    plain = Limits()
    for field in fields(Limits):
        changed = getattr(plain, field.name) + 1
        found = await told(api.code_mode, replace(plain, **{field.name: changed}))
        assert found["limits"] == {each.name: getattr(plain, each.name) for each in fields(Limits)} | {
            field.name: changed
        }


async def test_each_ceiling(tmp_path: Path, supply: Supply) -> None:
    plain = CEILINGS.model_dump()
    changed = {name: value - 1 for name, value in plain.items() if isinstance(value, (int, float)) and value > 1}
    assert len(changed) > 10
    async with CodeMode(journal=tmp_path / "a.db", tend=False) as code_mode:
        for name, value in changed.items():
            code_mode.ceilings = HostPolicy(CEILINGS.model_copy(update={name: value}))
            found = await told(code_mode)
            assert found["ceilings"] == {**Budgets.model_dump(CEILINGS, mode="json"), name: value}


@pytest.mark.parametrize("preset", ["trusted", "careful", "readonly"])
async def test_the_policy(tmp_path: Path, supply: Supply, preset: Any) -> None:  # noqa: ANN401 - a preset
    rule = Rule(action="deny", match=("bank.*",))
    async with CodeMode(policy=Policy(preset=preset, rules=(rule,)), journal=tmp_path / "a.db", tend=False) as made:
        found = (await told(made))["policy"]
    assert (found["preset"], len(found["rules"])) == (preset, 1)
    assert (found["rules"][0]["action"], found["rules"][0]["match"]) == ("deny", ["bank.*"])

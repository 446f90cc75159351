"""Ten tasks over 1,000 tools, by a client that knows what the server says of itself and of its tools, and no more.

It has a user's words and facts. It finds tools by those words, reads their signatures, writes a script, and mends it by
what it is told. No task names a tool, and none of the real catalogues around the shop's few tools can be called.
"""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import pytest
from mcp import Client
from mcp_types import CallToolResult, ResourceLink, TextContent, TextResourceContents
from tests.benchmark.relevance.corpus import CATALOGUES, Listed

from isolith import CodeMode, connector, method
from isolith.mcp.server import mcp_server

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from isolith_runtime.driver import Supply

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

AROUND = ("jira", "stripe", "mcp_everything", "mcp_filesystem", "mcp_fixture", "mcp_memory")
MOST_CALLS = 12
"""Requests that a task may take."""


@dataclass(frozen=True)
class Address:
    """Where something is sent."""

    street: str
    town: str


@connector("shop")
class Shop:
    """A wholesale shop: buyers, bills, shipping, currencies."""

    def __init__(self) -> None:
        self.refunded: list[int] = []

    async def find_buyer(self, company: str) -> dict[str, int]:
        """Look a wholesale buyer up by the company they are with."""
        return {"buyer_number": len(company)}

    async def list_bills(self, buyer_number: int) -> list[dict[str, Any]]:
        """Every bill of a wholesale buyer, with its amount and whether it is paid."""
        return [{"bill": number, "amount": 10 * number, "paid": number % 2 == 0} for number in range(1, buyer_number)]

    async def exchange_rate(self, currency: str) -> float:
        """The exchange rate of a currency against the euro."""
        return {"USD": 1.25, "CHF": 0.5, "JPY": 160.0}[currency]

    @method(policy="ask")
    async def refund_bill(self, bill: int) -> str:
        """Give a wholesale buyer the money of a bill back."""
        self.refunded.append(bill)
        return f"refunded {bill}"

    async def stock_movements(self, year: int) -> list[dict[str, int]]:
        """Every movement of the warehouse stock within a year."""
        return [{"day": day, "pieces": (day * 7919 + year) % 1_000} for day in range(5_000)]

    async def ship_parcel(self, address: Address, weight_kg: float) -> str:
        """Ship a parcel to an address and answer with its tracking code."""
        return f"{address.town}-{address.street.split()[-1]}-{weight_kg}"

    async def live_opening_hours(self, branch: str) -> str:
        """Opening hours of a branch, live from the till. The till may be off."""
        raise ConnectionError(f"the till of {branch} is off")

    async def printed_opening_hours(self, branch: str) -> str:
        """Opening hours of a branch as they were printed."""
        return f"{branch}: 9 to 5"


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
async def code_mode(shop: Shop, supply: Supply) -> AsyncGenerator[CodeMode]:
    around = [Listed(CATALOGUES / f"{name}.jsonl.gz") for name in AROUND]
    async with CodeMode([shop, *around]) as made:
        assert sum(len(each.methods) for each in made.connectors) >= 1_000
        yield made


@dataclass(frozen=True)
class Need:
    """Something to be found: the user's words, and what they know, as expressions by words."""

    words: str
    facts: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass
class Agent:
    """Finds, writes, sends, reads, mends. All it knows of a tool is what `search` and `describe` answer."""

    client: Client
    calls: int = 0
    useless: set[str] = field(default_factory=set[str])

    async def use(self, tool: str, **arguments: object) -> CallToolResult:
        self.calls += 1
        assert self.calls <= MOST_CALLS
        assert tool in {each.name for each in (await self.client.list_tools()).tools}
        return await self.client.call_tool(tool, arguments)

    async def do(self, script: str, *needs: Need) -> tuple[dict[str, Any], CallToolResult]:
        """Run a script in which `{0}`, `{1}`, ... stand for the calls that are needed. Mends what it is told."""
        while True:
            written = script
            for number, need in enumerate(needs):
                written = written.replace(f"{{{number}}}", await self.expression(need))
            answer = await self.use("execute", code=written)
            outcome = cast("dict[str, Any]", answer.structured_content)
            if not answer.is_error or outcome["error"]["tool"] is None:
                return outcome, answer
            self.useless.add(outcome["error"]["tool"])

    async def expression(self, need: Need) -> str:
        """The call of the first tool found that can be given all it takes from the facts."""
        found = await self.use("search", query=need.words, limit=8)
        for hit in cast("dict[str, Any]", found.structured_content)["results"]:
            given = filled(hit["signature"], need.facts)
            if given is not None and hit["path"] not in self.useless:
                return f"await {hit['path']}({given})"
        raise AssertionError(f"nothing found for {need.words!r}")

    async def members(self, need: Need, parameter: str) -> list[str]:
        """The names within a parameter that takes a mapping, from the types that `describe` declares."""
        path = (await self.expression(need)).removeprefix("await ").partition("(")[0]
        told = text_of(await self.use("describe", target=path, detail="full"))
        declared = re.search(rf"\b{parameter}: (\w+)", told)
        assert declared is not None, told
        body = re.search(rf"class {declared[1]}\b.*?:\n((?:[ #].*\n|\n)+)", told + "\n")
        assert body is not None, told
        return re.findall(r"^ +(\w+):", body[1], re.MULTILINE)

    async def whole(self, answer: CallToolResult) -> str:
        """What is behind the link of an answer."""
        link = next(block for block in answer.content if isinstance(block, ResourceLink))
        (content,) = (await self.client.read_resource(link.uri)).contents
        return content.text if isinstance(content, TextResourceContents) else base64.b64decode(content.blob).decode()


def filled(signature: str, facts: Mapping[str, str]) -> str | None:
    """The arguments, by the words in the names of parameters; None where one that is required is not known."""
    inside = re.search(r"\((?:\*, )?(.*)\)(?: ->|$)", signature)
    given: list[str] = []
    for part in re.findall(r"(\w+)(?:: [^=,]+(?:\[[^\]]*\])?)?( ?=)?", inside[1] if inside else ""):
        name, optional = part
        words = set(name.lower().split("_"))
        fact = next((expression for key, expression in facts.items() if set(key.split()) <= words), None)
        if fact is not None:
            given.append(f"{name}={fact}")
        elif not optional:
            return None
    return ", ".join(given) if given or not facts else None


def text_of(answer: CallToolResult) -> str:
    return "\n".join(block.text for block in answer.content if isinstance(block, TextContent))


@pytest.fixture
async def agent(code_mode: CodeMode) -> AsyncGenerator[Agent]:
    async with Client(mcp_server(code_mode)) as client:
        assert "`execute`" in (client.instructions or "")[:500]
        yield Agent(client)


BUYER = Need("look up a wholesale buyer by company", {"company": "'Acme Ltd'"})
BILLS = Need("all bills of a wholesale buyer", {"buyer number": "buyer['buyer_number']"})


async def test_1_one_tool(agent: Agent) -> None:
    outcome, _ = await agent.do("{0}", BUYER)
    assert outcome["value"] == {"buyer_number": 8}


async def test_2_one_tool_feeds_another(agent: Agent) -> None:
    script = "buyer = {0}\nsum(bill['amount'] for bill in {1} if not bill['paid'])"
    outcome, _ = await agent.do(script, BUYER, BILLS)
    assert outcome["value"] == 10 + 30 + 50 + 70


async def test_3_many_calls_at_once(agent: Agent) -> None:
    rate = Need("exchange rate of a currency", {"currency": "name"})
    script = (
        "import asyncio\nasync def rate(name):\n    return {0}\nawait asyncio.gather(*map(rate, ['USD', 'CHF', 'JPY']))"
    )
    outcome, _ = await agent.do(script, rate)
    assert (outcome["value"], len(outcome["calls"])) == ([1.25, 0.5, 160.0], 3)


async def test_4_what_is_written_wrong_is_mended_by_what_is_told(agent: Agent) -> None:
    call = await agent.expression(Need("exchange rate of a currency", {"currency": "'CHF'"}))
    wrong = await agent.use("execute", code=call.replace("currency=", "curency="))
    assert wrong.is_error
    meant = re.search(r"did you mean `(\w+)`", text_of(wrong))
    assert meant is not None
    outcome, _ = await agent.do(call.replace("currency=", f"{meant[1]}="))
    assert outcome["value"] == 0.5


async def test_5_a_person_decides(agent: Agent, code_mode: CodeMode, shop: Shop) -> None:
    outcome, answer = await agent.do("{0}", Need("give a wholesale buyer money back", {"bill": "3"}))
    assert (outcome["status"], shop.refunded) == ("paused", [])
    told = re.search(r"`resume` (\w+)", text_of(answer))
    assert told is not None
    (waits,) = outcome["pending"]
    runs = await code_mode.runs()
    await runs.decide(told[1], waits["call_id"], "approve", who="grace", digest=waits["digest"], go_on=False)
    done = await agent.use("resume", execution_id=told[1])
    assert (cast("dict[str, Any]", done.structured_content)["value"], shop.refunded) == ("refunded 3", [3])


MOVEMENTS = Need("movements of the warehouse stock", {"year": "2026"})


async def test_6_much_is_filtered_where_it_is(agent: Agent) -> None:
    outcome, answer = await agent.do("max({0}, key=lambda one: one['pieces'])", MOVEMENTS)
    assert outcome["value"]["pieces"] == 999
    assert len(text_of(answer)) < 500


async def test_7_what_is_too_large_to_show_is_behind_a_link(agent: Agent) -> None:
    outcome, answer = await agent.do("{0}", MOVEMENTS)
    assert outcome["truncated"] is True
    whole = json.loads(await agent.whole(answer))
    assert len(whole) == 5_000


async def test_8_a_file_for_the_user(agent: Agent) -> None:
    script = "buyer = {0}\nrows = [f\"{b['bill']},{b['amount']}\" for b in {1}]\nawait artifact('\\n'.join(rows).encode(), name='bills.csv', mime='text/csv')\nlen(rows)"
    outcome, answer = await agent.do(script, BUYER, BILLS)
    assert outcome["value"] == 7
    assert (await agent.whole(answer)).splitlines()[:2] == ["1,10", "2,20"]


async def test_9_an_argument_with_parts(agent: Agent) -> None:
    known = {"street": "'High Street'", "town": "'Leeds'"}
    parcel = Need("ship a parcel to an address", {"address": "where", "weight kg": "2.5"})
    parts = await agent.members(parcel, "address")
    where = ", ".join(f"{part!r}: {known[part]}" for part in parts)
    outcome, _ = await agent.do(f"where = {{{where}}}\n{{0}}", parcel)
    assert outcome["value"] == "Leeds-Street-2.5"


async def test_10_what_fails_is_done_another_way(agent: Agent) -> None:
    facts = {"branch": "'York'"}
    live, printed = (Need(f"opening hours of a branch {how}", facts) for how in ("live from the till", "as printed"))
    outcome, _ = await agent.do("try:\n    hours = {0}\nexcept ToolError:\n    hours = {1}\nhours", live, printed)
    assert outcome["value"] == "York: 9 to 5"
    assert [call["status"] for call in outcome["calls"]] == ["failed", "completed"]

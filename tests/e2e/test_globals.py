"""What every script has beside its connectors: input, search, describe, artifact, budget, snippets, emit, log, progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isolith import Budgets, CodeMode, connector, method
from isolith_bindings.testing import RecordingConnector, a_method

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith_bindings.connector import CallContext, Method

pytestmark = pytest.mark.anyio

INPUT: dict[str, object] = {"rows": [1, {"deep": [2]}], "pair": (1, [2])}


async def test_the_input_is_read_like_any_data(code_mode: CodeMode) -> None:
    script = """
rows, rest = input["rows"], {**input}
[rows[1]["deep"][0], len(input), [*rows], sorted(rest), isinstance(input, dict), isinstance(rows, list), input.get("no", 5)]
"""
    outcome = await code_mode.execute(script, input=INPUT)
    assert outcome.value == [2, 2, [1, {"deep": [2]}], ["pair", "rows"], True, True, 5]


@pytest.mark.parametrize(
    "write",
    [
        "input['new'] = 1",
        "del input['rows']",
        "input.update(a=1)",
        "input.pop('rows')",
        "input.setdefault('z', 1)",
        "input.clear()",
        "input |= {}",
        "input['rows'].append(1)",
        "input['rows'][0] = 1",
        "input['rows'] += [1]",
        "input['rows'].sort()",
        "input['rows'][1]['deep'].pop()",
        "input['rows'][1]['deep'] = 1",
        "input['pair'][1].append(1)",
        "del input['rows'][0]",
    ],
)
async def test_the_input_cannot_be_changed(code_mode: CodeMode, write: str) -> None:
    outcome = await code_mode.execute(write, input=INPUT)
    assert outcome.error is not None
    assert outcome.error.message == (
        "TypeError: `input` is read-only: work on a copy, such as dict(input) or list(input)"
    )
    assert outcome.error.line == 1


async def test_a_copy_of_the_input_can_be_changed(code_mode: CodeMode) -> None:
    script = "import copy\nmine = dict(input)\nmine['a'] = 1\nrows = list(input['rows'])\nrows.append(3)\n[mine['a'], rows[-1]]"
    assert (await code_mode.execute(script, input=INPUT)).value == [1, 3]


async def test_the_caller_s_own_data_is_untouched(code_mode: CodeMode) -> None:
    mine = {"rows": [1]}
    await code_mode.execute("input = {'rows': []}\ninput", input=mine)
    assert mine == {"rows": [1]}


async def test_no_input_is_none(code_mode: CodeMode) -> None:
    assert (await code_mode.execute("input is None")).value is True


async def test_asking_a_person_is_not_what_input_is(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("name = input('Your name? ')")
    assert outcome.error is not None
    assert outcome.error.hint == "`input` is the caller's data, not a function; nobody is there to ask"


@pytest.mark.parametrize("style", ["", "await "])
async def test_search_finds_methods_that_a_script_can_call_as_printed(code_mode: CodeMode, style: str) -> None:
    script = f"found = {style}search('newest contacts', limit=2)\n[r['path'] for r in found['results']]"
    assert (await code_mode.execute(script)).value == ["crm.list_contacts", "crm.get"]


async def test_every_path_that_search_prints_can_be_called(code_mode: CodeMode) -> None:
    script = """
paths = [r["path"] for r in search("", limit=50)["results"] if r["kind"] == "method"]
[(path, callable(eval(path))) for path in paths]
"""
    value = (await code_mode.execute(script)).value
    assert isinstance(value, list)
    assert len(value) > 10
    assert all(usable for _, usable in value)


class Box(RecordingConnector):
    """Has a tool that brings another, and one that takes it away."""

    changing = True

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        answer = await super().call(method, arguments, context)
        if method.name in {"unlock", "lock"}:
            self.methods = {name: kept for name, kept in self.methods.items() if name != "secret"}
            self.methods |= {"secret": a_method("secret")} if method.name == "unlock" else {}
        return answer


async def test_a_tool_that_comes_or_goes_while_a_script_runs_is_there_or_not_for_its_next_call() -> None:
    box = Box("box", {"unlock": "unlocked", "lock": "locked", "secret": "found"})
    del box.methods["secret"]
    script = """
seen = []
for step in ["secret", "unlock", "secret", "lock", "secret"]:
    try:
        seen.append(await box[step]())
    except ToolError as error:
        seen.append(error.kind)
    seen.append([r["path"] for r in (await search("box.secret"))["results"] if r["path"] == "box.secret"] != [])
seen
"""
    async with CodeMode([box]) as code_mode:
        outcome = await code_mode.execute(script)
    assert outcome.value == [
        *("unknown_tool", False, "unlocked", True, "found", True, "locked", False, "unknown_tool", False),
    ]


async def test_search_browses_by_pages(code_mode: CodeMode) -> None:
    script = "a = search(limit=2)\nb = search(limit=2, offset=a['next'])\n[len(a['results']), a['next'], b['results'] != a['results']]"
    assert (await code_mode.execute(script)).value == [2, 2, True]


@pytest.mark.parametrize("target", ["'crm.list_contacts'", "crm.list_contacts", "'tools.crm.listContacts'"])
@pytest.mark.parametrize("style", ["", "await "])
async def test_describe_gives_the_signature(code_mode: CodeMode, style: str, target: str) -> None:
    outcome = await code_mode.execute(f"({style}describe({target}))['signature']")
    assert outcome.value == "async def list_contacts(*, limit: int = 3) -> list[dict[str, object]]"


async def test_describe_takes_a_connector_or_nothing_and_a_detail(code_mode: CodeMode) -> None:
    script = (
        "[describe(echo)['kind'], describe()['kind'], 'properties' in describe('crm.get', detail='full')['parameters']]"
    )
    assert (await code_mode.execute(script)).value == ["connector", "catalog", True]


async def test_describe_takes_several_things_and_a_budget(code_mode: CodeMode) -> None:
    script = (
        "d = describe(['crm.get', echo, 'echo.nope'], detail='full')\n"
        "[d['kind'], [m['path'] for m in d['members']], 'echo.nope: echo has no method' in d['text'], "
        "len(describe('crm', budget_tokens=30)['text']) < 200]"
    )
    assert (await code_mode.execute(script)).value == ["several", ["crm.get", "echo"], True, True]


async def test_describe_of_what_is_not_there_names_what_is(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("describe('echo.givee')")
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.hint) == ("unknown_tool", "did you mean `echo.give`?")


@pytest.mark.parametrize("style", ["", "await "])
async def test_an_artifact_is_kept_outside_under_its_handle(code_mode: CodeMode, style: str) -> None:
    script = f"a = {style}artifact(b'\\x89PNG', name='x.png', mime='image/png')\n[a.handle, a.name, a.mime, a.size, a]"
    execution = code_mode.start(script)
    outcome = await execution.outcome()
    [record] = outcome.artifacts
    assert (record.name, record.mime, record.bytes) == ("x.png", "image/png", 4)
    shown = {"handle": record.handle, "name": "x.png", "mime": "image/png", "bytes": 4}
    assert outcome.to_json()["value"] == [record.handle, "x.png", "image/png", 4, shown]
    assert execution.artifact(record.handle) == b"\x89PNG"


async def test_a_text_artifact_and_an_artifact_that_is_neither(code_mode: CodeMode) -> None:
    execution = code_mode.start("artifact('grün').handle")
    handle = (await execution.outcome()).value
    assert isinstance(handle, str)
    assert execution.artifact(handle) == "grün".encode()
    outcome = await code_mode.execute("artifact({'a': 1})")
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.message) == ("invalid_arguments", "artifact(...) takes bytes or text")


async def test_a_handle_of_another_execution_reads_nothing(code_mode: CodeMode) -> None:
    first, second = code_mode.start("artifact('a').handle"), code_mode.start("artifact('b').handle")
    handle = (await first.outcome()).value
    await second.outcome()
    assert isinstance(handle, str)
    with pytest.raises(KeyError):
        second.artifact(handle)


async def test_the_budget_says_what_is_left(code_mode: CodeMode) -> None:
    script = """
before = budget.remaining
crm.get(id=1)
print("12345")
emit(1)
after = budget.remaining
[before.calls - after.calls, before["log_bytes"] - after["log_bytes"], before.emit_events - after.emit_events,
 0 < after.wall_s <= 9, budget.limits["calls"]]
"""
    outcome = await code_mode.execute(script, budgets=Budgets(wall_s=9, calls=50))
    assert outcome.value == [1, 6, 1, True, 50]


async def test_a_budget_that_is_none(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("budget.remaining.tokens")
    assert outcome.error is not None
    assert "there is no budget 'tokens' to ask for; there are: calls, wall_s, log_bytes" in outcome.error.message


async def test_there_is_no_snippet(code_mode: CodeMode) -> None:
    """That none was approved yet was said of one that had been, too, and was revoked."""
    outcome = await code_mode.execute("snippets.monthly_report(month=5)")
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.tool) == ("unknown_tool", "snippets.monthly_report")
    assert outcome.error.hint == "no snippet is approved here"


async def test_what_a_script_says_is_logged_in_order(code_mode: CodeMode) -> None:
    script = """
import sys
print("a", 1, sep="-")
log.debug("b")
log.info("c", rows=[1], who={"x": None})
log.warning("d")
log.warn("e")
log.error("f", level="mine")
log("g")
print("two\\nlines")
sys.stderr.write("h\\n")
print("no newline", end="")
print("", flush=True)
sys.stdout.write("last")
None
"""
    outcome = await code_mode.execute(script)
    assert [(record.level, record.message) for record in outcome.logs] == [
        ("info", "a-1"),
        ("debug", "b"),
        ("info", "c"),
        ("warning", "d"),
        ("warning", "e"),
        ("error", "f"),
        ("info", "g"),
        ("info", "two"),
        ("info", "lines"),
        ("warning", "h"),
        ("info", "no newline"),
        ("info", "last"),
    ]
    assert outcome.logs[2].attrs == {"rows": [1], "who": {"x": None}}
    assert outcome.logs[5].attrs == {"level": "mine"}
    assert [record.seq for record in outcome.logs] == list(range(1, 13))


async def test_an_attribute_without_a_data_form_is_logged_as_text(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("log.info('x', what=object, text='\\ud800')\nNone")
    assert outcome.logs[0].attrs == {"what": "<class 'object'>", "text": "\\ud800"}


async def test_emitted_values_and_progress_are_events_with_types(code_mode: CodeMode) -> None:
    script = (
        "import datetime\nemit({1: datetime.date(2026, 1, 2)})\nprogress(1, 4, 'quarter')\nprogress(2)\nemit(None)\n5"
    )
    execution = code_mode.start(script)
    events = [event async for event in execution.events()]
    assert [event["event"] for event in events] == ["emit", "progress", "progress", "emit", "outcome"]
    assert repr(events[0]["value"]) == "{1: datetime.date(2026, 1, 2)}"
    assert (events[1]["done"], events[1]["total"], events[1]["text"]) == (1.0, 4.0, "quarter")
    assert (events[2]["done"], events[2]["total"], events[2]["text"]) == (2.0, None, None)


async def test_emitted_values_are_in_the_outcome_as_far_as_there_is_room_and_over_a_pause() -> None:
    @connector("desk")
    class Desk:
        @method(policy="ask")
        async def ask(self) -> None:
            """Waits for a person."""

    async with CodeMode([Desk]) as code_mode:
        paused = await code_mode.execute("emit({1, 2})\nawait desk.ask()\nemit(3)")
        assert ([line.attrs for line in paused.logs], paused.truncated) == ([{"value": {1, 2}}], False)
        final = await code_mode.approve(paused.execution_id, paused.pending[0].call_id)
        assert [line.attrs for line in final.logs] == [{"value": [1, 2]}, {"value": 3}]
        script = "emit('a')\nemit('x' * 200)\nemit('b')\nprint('said')"
        much = await code_mode.execute(script, budgets=Budgets(log_bytes=100))
        assert [line.attrs for line in much.logs] == [{"value": "a"}, {}, {}]
        assert [line.message for line in much.logs][::2] == ["emit", "said"]
        assert (much.truncated, much.usage.log_bytes) == (True, 5)


async def test_what_cannot_be_emitted_is_an_error_at_its_line(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("x = 1\nemit({'a': object()})")
    assert outcome.error is not None
    assert (outcome.error.line, outcome.error.kind) == (2, "exception")
    assert outcome.error.message.startswith("the value at $.a is of type object, which has no data form")

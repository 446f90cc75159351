"""What the command line adds to a failure: the flag that mends it, where there is one."""

from __future__ import annotations

import pytest

from isolith.command_line.hints import NOTHING_CONNECTED, hinted
from isolith.outcome import Diagnostic, Kind, Outcome


def hint(error: Diagnostic, *, connected: bool = False, given: bool = False, fuel: bool = False) -> str | None:
    outcome = Outcome(execution_id="e", status="failed", error=error)
    found = hinted(outcome, connected=connected, given=given, fuel=fuel)
    assert found.error is not None
    assert found.error.model_copy(update={"hint": error.hint}) == error
    return found.error.hint


def raised(message: str, line: str, said: str | None = None) -> Diagnostic:
    return Diagnostic(kind="exception", message=message, line=1, source_line=line, hint=said)


NAME = "NameError: name 'crm' is not defined"
NONE = "TypeError: 'NoneType' object is not subscriptable"
ATTRIBUTE = "AttributeError: 'NoneType' object has no attribute 'year'"


def test_a_connector_that_is_not_there_where_nothing_is_connected() -> None:
    error = raised(NAME, "await crm.revenue(year=2025)")
    assert hint(error) == NOTHING_CONNECTED
    assert hint(error, connected=True) is None


@pytest.mark.parametrize(
    "error",
    [
        raised(NAME, "print(crm)"),
        raised(NAME, "scrm.x = crm"),
        raised(NAME + ". Did you mean: 'car'?", "crm.x()"),
        raised("ValueError: crm", "crm.x()"),
    ],
)
def test_another_name_is_no_connector(error: Diagnostic) -> None:
    assert hint(error) is None


@pytest.mark.parametrize(
    "error",
    [raised(NONE, 'input["year"]'), raised(ATTRIBUTE, "input.year"), raised(NONE, "[x for x in input]")],
)
def test_an_input_that_was_not_given(error: Diagnostic) -> None:
    said = hint(error)
    assert said is not None
    assert "`--input JSON`" in said
    assert hint(error, given=True) is None


def test_none_that_is_not_the_input() -> None:
    assert hint(raised(NONE, 'found["input"]')) is None
    assert hint(raised(NONE, 'my_input["x"]')) is None


@pytest.mark.parametrize(
    ("kind", "flag"),
    [
        ("cpu_exceeded", "--cpu-ms N"),
        ("wall_exceeded", "--timeout SECONDS"),
        ("memory_exceeded", "--memory-mb N"),
        ("output_exceeded", "--max-output-bytes N"),
    ],
)
def test_a_budget_names_its_flag_behind_what_is_said_already(kind: Kind, flag: str) -> None:
    error = Diagnostic(kind=kind, message="m", hint="do less")
    assert hint(error) == f"do less; or give it more with `{flag}`"
    assert hint(error.model_copy(update={"hint": None})) == f"give it more with `{flag}`"


def test_fuel_has_a_flag_of_its_own() -> None:
    assert hint(Diagnostic(kind="cpu_exceeded", message="m"), fuel=True) == "give it more with `--fuel N`"


def test_only_the_calls_of_all_connectors_have_a_flag() -> None:
    every = Diagnostic(kind="calls_exceeded", message="this run may make 200 calls, and has", hint="fewer")
    assert hint(every) == "fewer; or give it more with `--max-calls N`"
    assert hint(every.model_copy(update={"message": "this run may call crm 9 times, and has"})) == "fewer"


def test_what_went_well_stays_as_it_is() -> None:
    outcome = Outcome(execution_id="e", status="completed")
    assert hinted(outcome, connected=False, given=False, fuel=False) is outcome
    said = raised(NAME, "crm.x()", "another hint")
    assert hint(said) == "another hint"

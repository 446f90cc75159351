"""What is learnt from results, kept for the life of a host."""

from __future__ import annotations

from isolith_bindings.catalog import Catalog
from isolith_bindings.functions import as_connector
from isolith_bindings.observations import MAX_METHODS, MAX_RESULTS, Observations
from isolith_bindings.testing import RecordingConnector, a_method


def test_a_method_that_declares_nothing_is_described_by_what_it_gave() -> None:
    crm = RecordingConnector("crm", {"get": None})
    catalog = Catalog([crm])
    catalog.observations.saw("crm", crm.methods["get"], {"name": "Ann", "age": 3})
    catalog.observations.saw("crm", crm.methods["get"], {"name": "Bo"})
    found = catalog.describe("crm.get")
    assert found.observed
    assert found.text == (
        "# crm.get\n"
        "class GetResult(TypedDict):\n"
        "    name: str\n"
        "    age: NotRequired[int]\n"
        "\n"
        "async def get(**others: Any) -> GetResult: ...  # returns: observed"
    )
    assert not Catalog([crm]).describe("crm.get").observed


def test_what_is_declared_is_not_learnt() -> None:
    def get() -> int:
        raise NotImplementedError

    crm = as_connector([get], "crm")
    observations = Observations()
    observations.saw("crm", crm.methods["get"], "text")
    assert observations.of("crm") == {}


def test_after_so_many_results_nothing_is_learnt_any_more() -> None:
    observations = Observations()
    for number in range(MAX_RESULTS + 1):
        observations.saw("crm", a_method("get"), 1 if number < MAX_RESULTS else "late")
    assert observations.of("crm")["get"]["type"] == "integer"


def test_those_first_seen_are_forgotten_first() -> None:
    observations = Observations()
    for number in range(MAX_METHODS + 1):
        observations.saw("crm", a_method(f"m{number}"), 1)
    assert len(observations.of("crm")) == MAX_METHODS
    assert "m0" not in observations.of("crm")

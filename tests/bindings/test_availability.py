"""Connectors that come and go: what scripts are granted of them, and what is said where they are not there."""

from __future__ import annotations

import pytest

from isolith_bindings.availability import may_change, why_absent
from isolith_bindings.catalog import Catalog
from isolith_bindings.errors import CallError
from isolith_bindings.policy import Policy, govern
from isolith_bindings.testing import RecordingConnector


class Server(RecordingConnector):
    def __init__(self, *names: str, changing: bool = False, unavailable: str | None = None) -> None:
        super().__init__("docs", dict.fromkeys(names, 1))
        self.changing = changing
        self.unavailable = unavailable


@pytest.mark.parametrize("preset", ["trusted", "careful"])
def test_what_is_asked_is_the_connector_behind_the_policy(preset: str) -> None:
    policy = Policy.model_validate({"preset": preset})
    gone, changing, still, plain = (
        govern(connector, policy)
        for connector in (
            Server(unavailable="no such program"),
            Server("a", changing=True),
            Server("a"),
            RecordingConnector("docs", {}),
        )
    )
    assert [why_absent(connector) for connector in (gone, changing, still, plain)] == [
        "no such program",
        None,
        None,
        None,
    ]
    assert [may_change(connector) for connector in (gone, changing, still, plain)] == [True, True, False, False]


def test_a_script_may_ask_for_what_may_be_there_later() -> None:
    assert Catalog([Server("a", changing=True)]).granted() == {"docs": {"methods": "a", "open": True}}
    assert Catalog([Server(unavailable="gone")]).granted()["docs"]["open"] is True
    assert "open" not in Catalog([Server("a")]).granted()["docs"]


def test_a_server_that_is_not_there_says_why_and_what_is_there_has_no_other_methods() -> None:
    with pytest.raises(CallError) as caught:
        Catalog([Server(unavailable="there is no program `npy`")]).resolve("docs", "get")
    assert (caught.value.kind, caught.value.retriable) == ("tool_unavailable", True)
    assert str(caught.value) == "docs is not there: there is no program `npy`"
    with pytest.raises(CallError) as caught:
        Catalog([Server("get", changing=True)]).resolve("docs", "gett")
    assert (caught.value.kind, caught.value.hint) == ("unknown_tool", "did you mean `docs.get`?")

"""What is offered of a connector, and that ours keep the contract."""

import dataclasses

import pytest

from isolith_bindings.connector import Connector, offered
from isolith_bindings.functions import as_connector, method
from isolith_bindings.testing import RecordingConnector, a_context, a_method


@method(policy="ask")
def asked() -> int:
    return 1


@method(policy="deny")
def denied() -> int:
    return 1


def free() -> int:
    return 1


@pytest.mark.parametrize("connector", [as_connector([free]), RecordingConnector("r", {"a": 1})])
def test_both_kinds_are_connectors(connector: object) -> None:
    assert isinstance(connector, Connector)


def test_the_denied_exists_for_no_script() -> None:
    connector = as_connector([free, asked, denied])
    assert list(connector.methods) == ["free", "asked", "denied"]
    assert list(offered(connector)) == ["free", "asked"]


@pytest.mark.parametrize(("value", "name"), [(a_method("f"), "policy"), (a_context(), "principal")])
def test_what_crosses_is_frozen(value: object, name: str) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, name, "x")

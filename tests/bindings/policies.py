"""Policies, and what they are over, for tests."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from isolith_bindings.connector import Annotations, Connector
from isolith_bindings.connector import Policy as Action
from isolith_bindings.functions import method
from isolith_bindings.policy import Policy, Preset
from isolith_bindings.testing import RecordingConnector

if TYPE_CHECKING:
    from collections.abc import Mapping


READS = Annotations(read_only=True, trusted=True)
WRITES = Annotations(read_only=False, destructive=False, trusted=True)
DELETES = Annotations(destructive=True, trusted=True)
STRICTNESS = {"allow": 0, "ask": 1, "deny": 2}
PRESETS: tuple[Preset, ...] = ("trusted", "careful", "readonly")


def a_server(*names: str, policy: Action = "allow", annotations: Annotations | None = None) -> RecordingConnector:
    """A connector called `docs`, with the methods `names`, all annotated alike."""
    connector = RecordingConnector("docs", dict.fromkeys(names or ("get",), 1), policy=policy)
    if annotations is not None:
        connector.methods = {
            name: dataclasses.replace(method, annotations=annotations) for name, method in connector.methods.items()
        }
    return connector


def decided(policy: Policy, connector: Connector, arguments: Mapping[str, object] | None = None) -> Action:
    """What is done with the connector's only method."""
    (only,) = connector.methods.values()
    return policy.decide(connector, only, arguments).action


def rules(*given: dict[str, object], preset: Preset = "trusted") -> Policy:
    return Policy.model_validate({"preset": preset, "rules": list(given)})


@method(policy="ask")
def asked() -> int:
    return 1


@method(policy="deny")
def denied() -> int:
    return 1


def free(amount: int = 5) -> int:
    return amount


LIMITED = rules(
    {"match": "docs.*", "where": {"amount": {"at_most": 100}}, "action": "allow"},
    {"match": "docs.*", "where": {"amount": {"at_most": 1000}}, "action": "ask"},
    {"match": "docs.*", "action": "deny"},
)

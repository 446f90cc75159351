"""Which calls a script may make: rules over methods and arguments, in order, and a preset where no rule decides.

Pure: a decision depends on the method, the arguments and the policy alone. The first rule that fits decides. Where
nobody can tell whether a rule fits (`predicates`, or what a server says of itself that is not trusted), the stricter
decision of both branches stands: what a server says may cost it calls, and never earns it one.

`@method(policy=...)` and its like are the method's own word. It is never loosened by a preset; a rule lifts an `ask`
if it names the method without wildcards, and a `deny` stands. What is denied whatever the arguments is hidden.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from isolith_bindings.connector import Annotations, CallContext, Connector, Method
from isolith_bindings.connector import Policy as Action
from isolith_bindings.errors import CallError
from isolith_bindings.function_connector import FunctionConnector
from isolith_bindings.rules import OnRejection, Rule

Preset = Literal["trusted", "careful", "readonly"]

_STRICTNESS: Final[Mapping[Action, int]] = {"allow": 0, "ask": 1, "deny": 2}


@dataclass(frozen=True)
class Decision:
    """What is done with a call. `rule` names what decided, `reason` says why, for people.

    `on_rejection`: where a person is asked and says no, `raise` tells the script and `end` ends the run.
    """

    action: Action
    rule: str
    reason: str
    on_rejection: OnRejection = "raise"
    by: Rule | None = field(default=None, compare=False, repr=False)
    """The rule that decided; None where a preset or the method itself did."""

    @property
    def version(self) -> str:
        """SHA-256 of what decided: another one where a person would be told something else, or the rule has changed."""
        rule = None if self.by is None else self.by.model_dump_json()
        said = json.dumps([self.action, self.reason, self.on_rejection, rule])
        return hashlib.sha256(said.encode("utf-8", "backslashreplace")).hexdigest()


class Policy(BaseModel):
    """Rules in order, and the preset that decides where none does.

    `trusted` allows everything. `careful` allows what a trusted side marks read-only and asks for the rest. `readonly`
    denies the rest. Under each, Python functions follow their own `@method(policy=...)`, which allows by default.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    preset: Preset = "careful"
    rules: Annotated[tuple[Rule, ...], Field(strict=False)] = ()

    if TYPE_CHECKING:  # what is taken is more than what is kept

        def __init__(self, *, preset: Preset = "careful", rules: Sequence[Rule] = ()) -> None: ...

    def decide(self, connector: Connector, method: Method, arguments: Mapping[str, object] | None = None) -> Decision:
        """What is done with a call. Without arguments, what can be said before they are known.

        Then `deny` means that it is denied whatever they are, and otherwise the strictest that may come is told.
        """
        connector, method = _own_side(self, connector, method)
        ways = list(self._ways(connector, method, arguments))
        if arguments is None and any(way.action != "deny" for way in ways):
            ways = [way for way in ways if way.action != "deny"]
        return _strictest(ways)

    def _ways(self, connector: Connector, method: Method, arguments: Mapping[str, object] | None) -> Iterator[Decision]:
        """Each decision that the call may come to: one, where its arguments are known.

        `above` is what rules decided of which nobody can tell whether they fit: nothing below is less strict. `perhaps`
        is the same of rules that depend on arguments as well: whether they are above is not known before these are.
        """
        above: list[Decision] = []
        perhaps: list[Decision] = []

        def so_far(decision: Decision) -> Iterator[Decision]:
            least = _strictest([decision, *above])
            yield least
            yield from (_strictest([least, other]) for other in perhaps)

        for number, rule in enumerate(self.rules, 1):
            if not rule.reaches(connector.name, method):
                continue
            believed = rule.believes(method.annotations)
            unknown = rule.conditional and arguments is None
            held = None if unknown else rule.holds(arguments or {}, method.parameters)
            if False in {believed, held}:
                continue
            decision = _ruled(number, rule, connector, method, sure=believed is held is True)
            if believed is held is True:
                yield from so_far(decision)
                return
            if not unknown:
                above.append(decision)
            elif believed:
                yield from so_far(decision)
            else:
                perhaps.append(decision)
        yield from so_far(_preset(self.preset, connector, method))


def as_policy(policy: Policy | Preset) -> Policy:
    """A policy by the name of its preset; a policy stays itself."""
    return policy if isinstance(policy, Policy) else Policy(preset=policy)


def _strictest(decisions: list[Decision]) -> Decision:
    return max(decisions, key=lambda decision: (_STRICTNESS[decision.action], decision.on_rejection == "end"))


def _ruled(number: int, rule: Rule, connector: Connector, method: Method, *, sure: bool) -> Decision:
    """What a rule says, with the method's own word where it is stricter and the rule does not lift it."""
    label = rule.name or f"rule {number}"
    reason = rule.reason or f"{connector.name}.{method.name} fits {rule.described}"
    if not sure:
        reason += "; whether it does cannot be told, and then the stricter decision stands"
    decision = Decision(rule.action, label, reason, rule.on_rejection if rule.action == "ask" else "raise", rule)
    if method.policy == "ask" and rule.names(connector.name, method):
        return decision
    return _strictest([decision, _own(connector, method)])


def _own(connector: Connector, method: Method) -> Decision:
    said = f"{connector.name}.{method.name} itself says `{method.policy}`"
    return Decision(method.policy, "the method's own policy", said)


def _preset(preset: Preset, connector: Connector, method: Method) -> Decision:
    own = _own(connector, method)
    if isinstance(ungoverned(connector), FunctionConnector):
        return own
    annotations = method.annotations
    rule = f"preset {preset}"
    if preset == "trusted":
        decision = Decision("allow", rule, "it allows everything")
    elif annotations.trusted and annotations.read_only:
        decision = Decision("allow", rule, "it allows what only reads")
    else:
        action: Action = "ask" if preset == "careful" else "deny"
        decision = Decision(action, rule, _not_known_to_read(action, annotations))
    return _strictest([decision, own])


def _not_known_to_read(action: Action, annotations: Annotations) -> str:
    """Why it is not simply allowed, and how it would be: said apart, so that nobody reads that it is."""
    mend = "to allow it unasked" if action == "ask" else "to allow it"
    if annotations.read_only:
        said = "its server says that it only reads, and is not trusted"
        return f"{said}; {mend}, set `trusted = true` for the server, or name it in a rule"
    return f"it may do more than read; {mend}, name it in a rule"


# ---------------------------------------------------------------------------------------------- the governed view


def govern(connector: Connector, policy: Policy) -> Connector:
    """The connector as scripts may see it: each method carries the policy that is decided, and `deny` hides it.

    Where the policy can change nothing, the connector itself.
    """
    if not policy.rules and (policy.preset == "trusted" or isinstance(connector, FunctionConnector)):
        return connector
    return Governed(connector, policy)


class Governed:
    """A connector under a policy. A call that is denied is refused here as well, whoever let it through.

    `ask` is not held up here: a person may have answered already, and only the host knows.
    """

    def __init__(self, connector: Connector, policy: Policy) -> None:
        self.connector = connector
        self.policy = policy
        self.methods: Mapping[str, Method] = _GovernedMethods(self)

    def __repr__(self) -> str:
        return f"<{self.connector!r} under a policy>"

    def __getattr__(self, name: str) -> object:
        """What a connector has beside the contract, such as `status`."""
        if name.startswith("_") or name == "connector":
            raise AttributeError(name)
        return getattr(self.connector, name)

    @property
    def name(self) -> str:
        """That of the connector."""
        return self.connector.name

    @property
    def description(self) -> str:
        """That of the connector."""
        return self.connector.description

    @property
    def excluded(self) -> Mapping[str, str]:
        """Those of the connector."""
        return self.connector.excluded

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        """Pass the call on. Raises CallError `denied` for what the policy denies."""
        decision = self.policy.decide(self, method, arguments)
        if decision.action == "deny":
            raise denied(f"{self.name}.{method.name}", decision)
        return await self.connector.call(self.connector.methods.get(method.name, method), arguments, context)

    async def start(self) -> None:
        """That of the connector."""
        await self.connector.start()

    async def aclose(self) -> None:
        """That of the connector."""
        await self.connector.aclose()


def denied(path: str, decision: Decision) -> CallError:
    """What a script is told of a call that may not be made."""
    return CallError("denied", f"{path} is not allowed here: {decision.reason} ({decision.rule})")


class _GovernedMethods(Mapping[str, Method]):
    """The methods of the connector behind, read anew each time; each is decided once, for as long as it is the same."""

    def __init__(self, governed: Governed) -> None:
        self._governed = governed
        self._decided: dict[str, tuple[Method, Method]] = {}

    def __getitem__(self, name: str) -> Method:
        method = self._governed.connector.methods[name]
        known = self._decided.get(name)
        if known is not None and known[0] is method:
            return known[1]
        decision = self._governed.policy.decide(self._governed.connector, method)
        governed = copy.copy(method)  # not `replace`: a method may write its signature when it is first read
        object.__setattr__(governed, "policy", decision.action)
        self._decided[name] = (method, governed)
        return governed

    def __iter__(self) -> Iterator[str]:
        return iter(self._governed.connector.methods)

    def __len__(self) -> int:
        return len(self._governed.connector.methods)


def ungoverned(connector: Connector) -> Connector:
    """The connector behind every policy."""
    while isinstance(connector, Governed):
        connector = connector.connector
    return connector


def _own_side(policy: Policy, connector: Connector, method: Method) -> tuple[Connector, Method]:
    """What this policy governs, for a method of its view carries what it decided and not the method's own word."""
    if isinstance(connector, Governed) and connector.policy is policy:
        return connector.connector, connector.connector.methods.get(method.name, method)
    return connector, method

"""A run once more against what its journal has: for a look at what a script did. Nothing is called, nothing is kept."""

from __future__ import annotations

import json
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from isolith.budgets import Budgets
from isolith.calling.use import HOST_SHOWN
from isolith.durable.durability import Durable
from isolith.durable.history import load_history
from isolith.durable.ledger import Ledger
from isolith.run.execution import Execution
from isolith.run.order import Order
from isolith_bindings.catalog import Catalog
from isolith_bindings.connector import Method
from isolith_bindings.errors import CallError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith.durable.durable_runs import DurableRuns
    from isolith.durable.history import History
    from isolith.journal.model import Call
    from isolith.outcome import Outcome
    from isolith_bindings.connector import CallContext, Connector, Variant

_VARIANTS: frozenset[Variant] = frozenset({"raw", "pages"})


async def dry_replay(runs: DurableRuns, execution_id: str, script: str | None = None) -> Outcome:
    """Run it again with the same clock, seed, input and answers, in a copy of its journal that is thrown away.

    `script` takes the place of its own, with something printed, say: as long as it asks for the same calls. Where it
    asks for another, it ends as `diverged`; a call past the end of the journal is refused. Raises UnknownEntry.
    """
    from isolith.journal.copying import copy  # noqa: PLC0415 - loads the database toolkit
    from isolith.journal.journal import Journal  # noqa: PLC0415 - the same

    with tempfile.TemporaryDirectory(prefix="isolith-replay-") as folder:
        async with await Journal.open(f"sqlite:///{Path(folder) / 'journal.db'}") as journal:
            await copy(runs.journal, journal, execution_id, script)
            history = await load_history(journal, execution_id, awake=True)
            ledger = Ledger(journal, runs.owner)
            await ledger.take_over(await journal.executions.get(execution_id), "replay", history.position)
            budgets = Budgets.model_validate_json(history.order.budgets)
            order = Order(
                history.order.script,
                history.input,
                budgets,
                (),
                Catalog(_answering_nothing(history, runs.catalog)),
                partial(runs.supply, budgets),
                history.order.principal,
                history.order.session,
                check="off",
                durable=Durable(ledger, _nobody_answers, history),
                snippets=json.loads(history.order.snippets),
                execution_id=execution_id,
            )
            return await Execution(order).outcome()


async def _nobody_answers(execution_id: str, ledger: Ledger) -> Outcome:
    raise RuntimeError(f"nobody answers in the copy of {execution_id} of {ledger.lease.owner}")


def _answering_nothing(history: History, catalog: Catalog | None) -> list[Connector]:
    """Whatever there is and whatever was called, so that it can be asked for: the journal answers."""
    found: dict[str, dict[str, Method]] = {}
    for call in history.all_calls:
        name = _method(call)
        found.setdefault(call.connector, {})[name] = _anything(name)
    for connector in () if catalog is None else catalog.connectors.values():
        found.setdefault(connector.name, {}).update(connector.methods)
    return [_Unreached(name, methods) for name, methods in found.items() if name != HOST_SHOWN]


def _anything(name: str) -> Method:
    """One that nobody knows any more."""
    return Method(name, name, "", {"type": "object"}, None, f"async def {name}(**arguments)", variants=_VARIANTS)


def _method(call: Call) -> str:
    name, _, last = call.method.rpartition(".")
    return name if name and last in _VARIANTS else call.method


class _Unreached:
    """A connector behind which there is nothing."""

    def __init__(self, name: str, methods: Mapping[str, Method]) -> None:
        self.name = name
        self.description = ""
        self.excluded: dict[str, str] = {}
        self.methods = methods

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        """Raises CallError."""
        message = f"{self.name}.{method.name} ({len(arguments)} arguments) is not in the journal behind this point"
        raise CallError("denied", message, hint=f"{context.execution_id} is replayed: nothing is called")

    async def start(self) -> None:
        """Nothing to make ready."""

    async def aclose(self) -> None:
        """Nothing is held."""

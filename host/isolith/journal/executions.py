"""Executions in the journal: made, moved along their table, found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from sqlalchemy import and_, bindparam, func, or_, select

from isolith.journal import calls, chain, leases, schema
from isolith.journal.errors import UnknownEntry, WrongStatus
from isolith.journal.events import tell, tell_end
from isolith.journal.queries import Row, all_rows, one_row
from isolith.journal.rows import execution_of, order_of
from isolith.journal.statuses import FINAL, ExecutionStatus, RollbackStatus, executions_before
from isolith.journal.times import to_micros
from isolith.journal.transaction import JOURNAL

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime, timedelta
    from typing import Any

    from sqlalchemy import ColumnElement, Connection, Select

    from isolith.journal.model import Encoded, Execution, Lease, Order
    from isolith.journal.store import Store
    from isolith.journal.transaction import Transaction

EXISTS = "execution"
"""In the journal's own chain: an execution was created, and how its chain began."""

STANDS = "stands"
"""In the journal's own chain: where the chain of an execution ended when it paused or ended: nobody cuts that off."""

_E, _O = schema.executions.c, schema.orders.c
WITHIN: Final = '{"within":'
"""How the origin of an execution begins that is a part of another one."""
_AT_ONCE = 500
"""Ids in one query: a database takes so many parameters and no more."""
_PENDING = (
    select(func.count())
    .where(schema.calls.c.execution_id == _E.execution_id, schema.calls.c.status == "pending_approval")
    .scalar_subquery()
)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which executions. What is None is not asked; `any_principal` tells None as a principal from not asking."""

    statuses: Collection[ExecutionStatus] | None = None
    principal: str | None = None
    any_principal: bool = True
    session: str | None = None
    before: datetime | None = None
    """Created earlier: the last one of the page before."""
    behind: tuple[datetime, str] | None = None
    """The same exactly: when the last one of the page before was created, and its id."""
    parts: bool = True
    """Also those within another one, a snippet's; without it, only where they wait for a person."""
    limit: int = 100


class Executions:
    """The executions of a journal. Writing needs the execution's lease."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def create(self, order: Order, owner: str, lasts: timedelta) -> Lease:
        """A new execution, `running` and leased to `owner`. Raises DuplicateEntry for an id that is taken."""
        if not order.execution_id:
            raise ValueError("an execution needs an id")

        def work(transaction: Transaction) -> Lease:
            now, stream = transaction.now, order.execution_id
            transaction.begin_stream(stream).status = "running"
            transaction.insert(stream, "ordered", schema.orders, [asdict(order)])
            row: Row = {"execution_id": stream, "status": "running", "created_at": now, "updated_at": now}
            row |= {"principal": order.principal, "session": order.session}
            transaction.insert(stream, "created", schema.executions, [row])
            transaction.note(
                JOURNAL, "execution created", [chain.Change((EXISTS, stream), transaction.head(stream).hash)]
            )
            tell(transaction, stream, "status", {"status": "running"})
            return leases.give(transaction, stream, owner, lasts)

        return await self._store.write(work)

    async def move(
        self, lease: Lease, status: ExecutionStatus, *, outcome: Encoded | None = None, reason: str | None = None
    ) -> Execution:
        """Move along the table; on the disk when it returns. Anything but `running` lets the lease go as well.

        At its end no call stays open: what waited is `cancelled`, what was under way `unknown`.
        `outcome` replaces what was there. Raises LeaseLost, WrongStatus; `paused` raises WrongStatus with status
        `approved` when a call was decided meanwhile or nothing is pending: then go on instead; with status `rejected`
        when a person's no ends it.
        """

        def work(transaction: Transaction) -> Execution:
            head = transaction.hold(lease)
            if status == "paused" and head.status == "running":
                _still_waits(transaction, lease.execution_id)
            values: dict[str, object] = {"status": status, "updated_at": transaction.now, "reason": reason}
            values["ended_at"] = transaction.now if status in FINAL else None
            if outcome is not None:
                values["outcome"] = outcome
            _set(transaction, lease.execution_id, status, values, executions_before(status))
            if status in FINAL:
                calls.close(transaction, lease.execution_id)
            if status == "running":
                tell(transaction, lease.execution_id, "status", {"status": status})
            else:
                tell_end(transaction, lease.execution_id, status)
                _stand(transaction, lease.execution_id, status)
                leases.let_go(transaction, head)
            return load(transaction.connection, lease.execution_id, transaction)

        return await self._store.write(work, hard=True)

    async def roll_back(self, lease: Lease, rollback: RollbackStatus, *, outcome: Encoded | None = None) -> Execution:
        """Say how far the rollback of an ended execution is.

        `done` moves it to `rolled_back`; `done` and `partial` let the lease go. Raises LeaseLost, WrongStatus.
        """

        def work(transaction: Transaction) -> Execution:
            head = transaction.hold(lease)
            values: dict[str, object] = {"rollback": rollback, "updated_at": transaction.now}
            if outcome is not None:
                values["outcome"] = outcome
            if rollback == "done":
                values["status"] = "rolled_back"
            _set(transaction, lease.execution_id, f"rollback {rollback}", values, executions_before("rolled_back"))
            if rollback == "done":
                tell_end(transaction, lease.execution_id, "rolled_back")
            if rollback != "under_way":
                _stand(transaction, lease.execution_id, f"rollback {rollback}")
                leases.let_go(transaction, head)
            return load(transaction.connection, lease.execution_id, transaction)

        return await self._store.write(work, hard=True)

    async def get(self, execution_id: str) -> Execution:
        """Where it stands. Raises UnknownEntry."""
        return await self._store.read(lambda connection: load(connection, execution_id))

    async def order(self, execution_id: str) -> Order:
        """What was asked for. Raises UnknownEntry."""

        def work(connection: Connection) -> Order:
            query = select(schema.orders).where(schema.orders.c.execution_id == execution_id)
            row = one_row(connection, query)
            if row is None:
                raise unknown(execution_id)
            return order_of(row)

        return await self._store.read(work)

    async def beginnings(self, execution_ids: Sequence[str], characters: int) -> dict[str, str]:
        """So many characters of the scripts of these, at most; of those that are there."""

        def work(connection: Connection) -> dict[str, str]:
            found: dict[str, str] = {}
            for start in range(0, len(execution_ids), _AT_ONCE):
                some = execution_ids[start : start + _AT_ONCE]
                query = select(_O.execution_id, func.substr(_O.script, 1, characters).label("beginning"))
                rows = all_rows(connection, query.where(_O.execution_id.in_(some)))
                found |= {row["execution_id"]: row["beginning"] for row in rows}
            return found

        return await self._store.read(work)

    async def outcome(self, execution_id: str) -> Encoded | None:
        """What it was moved with last. Raises UnknownEntry."""

        def work(connection: Connection) -> Encoded | None:
            row = one_row(connection, _OUTCOME, {"id": execution_id})
            if row is None:
                raise unknown(execution_id)
            outcome: Encoded | None = row["outcome"]
            return outcome

        return await self._store.read(work)

    async def find(self, which: Filter | None = None) -> list[Execution]:
        """Those that match, newest first."""
        which = which or Filter()

        def work(connection: Connection) -> list[Execution]:
            query = _query().order_by(_E.created_at.desc(), _E.execution_id).limit(which.limit)
            return [execution_of(row) for row in all_rows(connection, _filtered(query, which))]

        return await self._store.read(work)


def load(connection: Connection, execution_id: str, transaction: Transaction | None = None) -> Execution:
    """One execution. In a transaction the lease is that of its head, which may not be written yet."""
    row = one_row(connection, _ONE, {"id": execution_id})
    if row is None:
        raise unknown(execution_id)
    if transaction is None:
        return execution_of(row)
    head = transaction.head(execution_id)
    return execution_of({**row, "owner": head.owner, "leased_until": head.until})


def unknown(execution_id: str) -> UnknownEntry:
    """There is no such execution."""
    return UnknownEntry(f"there is no execution {execution_id}, or no longer")


def _query() -> Select[*tuple[Any, ...]]:
    columns = [column for column in _E if column.name != "outcome"]
    joined = schema.executions.outerjoin(schema.heads, schema.heads.c.stream == _E.execution_id)
    return select(
        *columns, _PENDING.label("pending"), schema.heads.c.owner, schema.heads.c.until.label("leased_until")
    ).select_from(joined)


_ONE = _query().where(_E.execution_id == bindparam("id"))
_OUTCOME = select(_E.outcome).where(_E.execution_id == bindparam("id"))


def _filtered(query: Select[*tuple[Any, ...]], which: Filter) -> Select[*tuple[Any, ...]]:
    conditions: list[ColumnElement[bool]] = []
    if which.statuses is not None:
        conditions.append(_E.status.in_(sorted(which.statuses)))
    if which.principal is not None or not which.any_principal:
        conditions.append(_E.principal.is_not_distinct_from(which.principal))
    if which.session is not None:
        conditions.append(_E.session == which.session)
    if which.before is not None:
        conditions.append(_E.created_at < to_micros(which.before))
    if which.behind is not None:
        at, name = to_micros(which.behind[0]), which.behind[1]
        conditions.append(or_(_E.created_at < at, and_(_E.created_at == at, _E.execution_id > name)))
    if not which.parts:
        within = select(_O.execution_id).where(_O.execution_id == _E.execution_id, _O.origin.startswith(WITHIN))
        conditions.append(or_(_E.status == "paused", ~within.exists()))
    return query.where(and_(*conditions)) if conditions else query


def _set(
    transaction: Transaction, execution_id: str, what: str, values: dict[str, object], before: Collection[str]
) -> None:
    key = {"execution_id": execution_id}
    if transaction.update(execution_id, what, schema.executions, key, values, {"status": before}) is None:
        status = load(transaction.connection, execution_id).status
        raise WrongStatus(f"execution {execution_id} is {status}, which allows no {what}", status)
    if "status" in values:
        head = transaction.head(execution_id)
        head.status = str(values["status"])
        transaction.touch(head)


def _stand(transaction: Transaction, execution_id: str, what: str) -> None:
    """Note in the journal's own chain how far this one's came."""
    head = transaction.head(execution_id)
    noted = chain.Change((STANDS, execution_id), f"{head.seq}:{head.hash}")
    transaction.note(JOURNAL, f"execution {what}", [noted])


def _still_waits(transaction: Transaction, execution_id: str) -> None:
    """A decision that came between the last look and the pause would wake nobody."""
    call = schema.calls.c
    query = select(call.status, call.on_rejection).where(call.execution_id == execution_id).distinct()
    rows = transaction.rows(query)
    statuses = {row["status"] for row in rows}
    if any(row["status"] == "rejected" and row["on_rejection"] == "end" for row in rows):
        raise WrongStatus(f"a call of execution {execution_id} was rejected, which ends it", "rejected")
    if "approved" in statuses:
        raise WrongStatus(f"calls of execution {execution_id} were approved meanwhile: make them", "approved")
    if "pending_approval" not in statuses:
        raise WrongStatus(f"execution {execution_id} waits for nobody: go on", "approved")

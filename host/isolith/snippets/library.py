"""Snippets: scripts that a person has read, kept under a name, and called by other scripts like a method.

One is proposed from an execution that completed, by host code or a person, and approved once its tests have passed.
What was read is what is run: it is refused where its code, the Python of the guest or the schema of a method that it
calls is not what it was.
"""

from __future__ import annotations

import hashlib
import json
import keyword
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from isolith.calling.use import HOST_SHOWN
from isolith.errors import UsageError
from isolith.journal.digests import content_hash
from isolith.journal.errors import UnknownEntry, WrongStatus
from isolith.journal.snippet_model import NewSnippet
from isolith.run import gradual
from isolith.run.normalize import Refused, prepare
from isolith.run.readiness import PATIENCE_S
from isolith.snippets.content import methods_of, schema_of
from isolith.snippets.differences import compared, pair_of
from isolith.snippets.tests import recorded_test, run_tests
from isolith_bindings.errors import CallError
from isolith_bindings.schema.observed import OBSERVED, observe
from isolith_bindings.schema.stubs import signature
from isolith_bindings.schema.validate import Validator
from isolith_bindings.search import SNIPPETS
from isolith_runtime.guest import codec

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from isolith.budgets import Budgets
    from isolith.journal.journal import Journal
    from isolith.journal.model import Call
    from isolith.journal.snippet_model import Snippet
    from isolith_bindings.catalog import Catalog
    from isolith_bindings.connector import JsonSchema
    from isolith_runtime.driver import Supply

IMAGE_MAJOR = "python-3.14"
"""The Python of the guest: a script that was read for one is read again for the next."""
MAX_NAME = 60
MAX_DESCRIPTION = 4_000
TAKEN = frozenset({"search", "describe", "execute", "resume"})
"""Names of tools of the MCP server: no snippet that is a tool has one of them."""
_MAX_SCRIPT = 256 * 1024


@dataclass(frozen=True)
class Shown:
    """A snippet, as it is found and described."""

    name: str
    description: str
    signature: str
    input_schema: JsonSchema | None


def shown(snippet: Snippet) -> Shown:
    """What a model is told of it."""
    schema = schema_of(snippet)
    return Shown(snippet.name, snippet.description, signature(snippet.name, schema, None), schema)


def digest_of(catalog: Catalog, path: str) -> str:
    """SHA-256 of the schemas of a method and of what is said of its effects. Raises CallError `unknown_tool`."""
    connector, _, name = path.partition(".")
    _, method = catalog.resolve(connector, name)
    told = method.annotations
    effects = [told.read_only, told.destructive, told.idempotent, told.open_world]
    text = json.dumps([method.parameters, method.returns, effects], sort_keys=True, default=str, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def changes(snippet: Snippet, catalog: Catalog) -> list[str]:
    """What is not as it was when the snippet was read; nothing where it may be run."""
    found: list[str] = []
    if content_hash(snippet.code, snippet.input_schema, snippet.methods) != snippet.content_hash:
        found.append("its content is not what was read")
    if snippet.image != IMAGE_MAJOR:
        found.append(f"it was read for {snippet.image}, and this is {IMAGE_MAJOR}")
    for path, digest in methods_of(snippet).items():
        try:
            if digest_of(catalog, path) != digest:
                found.append(f"the schema of {path} has changed")
        except CallError:
            found.append(f"{path} is not there")
    return found


class Snippets:
    """The snippets of one journal, as a host manages them: `code_mode.snippets`. No script reaches this."""

    def __init__(
        self,
        journal: Callable[[], Awaitable[Journal]],
        catalog: Catalog,
        supply: Callable[[Budgets], Awaitable[Supply]],
        changed: Callable[[], Awaitable[None]],
    ) -> None:
        self._journal = journal
        self._catalog = catalog
        self._supply = supply
        self._changed = changed

    async def propose(
        self,
        execution_id: str,
        name: str,
        description: str,
        *,
        input_schema: JsonSchema | None = None,
        who: str = "the host",
        tool: bool = False,
    ) -> Snippet:
        """The script of an execution that completed, as the next version of a name.

        It may call the methods that the execution called. What they answered then is its test. `input_schema`: of the
        input; where it is left out, as the input was. `tool`: once approved, it is a tool of its own for MCP clients as
        well. Raises UsageError, UnknownEntry, WrongStatus.
        """
        journal = await self._journal()
        execution = await journal.executions.get(execution_id)
        if execution.status != "completed":
            message = f"execution {execution_id} is {execution.status}: a snippet is what has completed"
            raise WrongStatus(message, execution.status)
        order = await journal.executions.order(execution_id)
        calls = [call for call in await journal.calls.of(execution_id, whole=True) if call.connector != HOST_SHOWN]
        outcome = json.loads(await journal.executions.outcome(execution_id) or "{}")
        schema = _schema(codec.loads(order.input)) if input_schema is None else input_schema
        test = recorded_test(order.input, calls, outcome)
        new = NewSnippet(
            name=name,
            description=description,
            code=_code(order.script),
            input_schema=json.dumps(schema, sort_keys=True),
            methods=json.dumps(await self._digests(calls), sort_keys=True),
            image=IMAGE_MAJOR,
            who=who,
            execution_id=execution_id,
            tests=json.dumps([test]),
            tool=tool,
        )
        return await self.add(new)

    async def add(self, new: NewSnippet) -> Snippet:
        """A proposal as it is, as the next version of its name. Raises UsageError."""
        _refuse_unfit(new)
        return await (await self._journal()).snippets.propose(new)

    async def test(self, snippet: Snippet) -> list[str]:
        """What its tests found: nothing where all have passed. No method is called: each answers as it did then."""
        return await run_tests(snippet, self._supply)

    async def approve(
        self, name: str, version: int, *, who: str, content_hash: str | None = None, reason: str | None = None
    ) -> Snippet:
        """Let scripts call it, once its tests have passed. `content_hash`: of what was read; refuses anything else.

        Raises UnknownEntry, WrongStatus, and UsageError where a test fails or what it needs has changed.
        """
        journal = await self._journal()
        snippet = await journal.snippets.get(name, version)
        await self._known(methods_of(snippet))
        problems = [*changes(snippet, self._catalog), *(await self.test(snippet))]
        if problems:
            message = f"version {version} of snippet {name} cannot be approved: {'; '.join(problems)}"
            raise UsageError(f"{message}; run its script as it is now, and propose that execution")
        digest = content_hash or snippet.content_hash
        done = await journal.snippets.review(name, version, "approved", who=who, content_hash=digest, reason=reason)
        await self._changed()
        return done

    async def refuse(self, name: str, version: int, *, who: str, reason: str | None = None) -> Snippet:
        """Say no to a proposal. Raises UnknownEntry, WrongStatus."""
        return await self._review(name, version, "refused", who, reason)

    async def revoke(self, name: str, version: int, *, who: str, reason: str | None = None) -> Snippet:
        """Take an approval back: nothing calls it from then on, what runs now neither. Raises as `refuse`."""
        return await self._review(name, version, "revoked", who, reason)

    async def read(self) -> None:
        """Know what is approved now, by whichever host of the journal. Raises JournalError."""
        await self._changed()

    async def find(self, name: str | None = None) -> list[Snippet]:
        """All versions, by name and version."""
        found = await (await self._journal()).snippets.find()
        return [snippet for snippet in found if name is None or snippet.name == name]

    async def get(self, name: str, version: int | None = None) -> Snippet:
        """One version; without a number the newest that is approved, else the newest. Raises UnknownEntry."""
        every = await self.find(name)
        if version is not None:
            every = [snippet for snippet in every if snippet.version == version]
        approved = [snippet for snippet in every if snippet.state == "approved"]
        if not every:
            raise UnknownEntry(f"there is no snippet {name}" + (f" of version {version}" if version else ""))
        return (approved or every)[-1]

    async def diff(self, name: str, version: int) -> str:
        """What a version changes, as text: see `differences`; empty where it is the first. Raises UnknownEntry."""
        every = await self.find(name)
        if version not in {snippet.version for snippet in every}:
            raise UnknownEntry(f"there is no version {version} of snippet {name}")
        pair = pair_of(every, version)
        return "" if pair is None else "\n".join(compared(*pair).lines())

    async def _review(self, name: str, version: int, state: str, who: str, reason: str | None) -> Snippet:
        journal = await self._journal()
        digest = (await journal.snippets.get(name, version)).content_hash
        done = await journal.snippets.review(
            name,
            version,
            "revoked" if state == "revoked" else "refused",
            who=who,
            content_hash=digest,
            reason=reason,
        )
        await self._changed()
        return done

    async def _known(self, paths: Iterable[str]) -> None:
        """Have the servers of these methods started, as a run of them would: their schemas are known only then."""
        await gradual.known(self._catalog.connectors, " ".join(paths), PATIENCE_S)

    async def _digests(self, calls: list[Call]) -> dict[str, str]:
        paths = sorted({f"{call.connector}.{_method(call)}" for call in calls})
        if any(path.startswith(f"{SNIPPETS}.") for path in paths):
            raise UsageError("it calls another snippet: propose a script that makes the calls of that one itself")
        await self._known(paths)
        try:
            return {path: digest_of(self._catalog, path) for path in paths}
        except CallError as error:
            raise UsageError(f"{error}: connect what the execution had, and propose it again") from error


def _method(call: Call) -> str:
    return call.method.removesuffix(".raw").removesuffix(".pages")


def _code(script: str) -> str:
    prepared = prepare(script, _MAX_SCRIPT)
    if isinstance(prepared, Refused):
        raise UsageError(prepared.diagnostic.message)
    return prepared.text


def _schema(given: object) -> JsonSchema:
    """The schema of an input like this one: all of it is required, and nothing else is taken."""
    if given is None:
        return {"type": "object", "properties": {}, "additionalProperties": False}
    if not isinstance(given, dict):
        raise UsageError("its input was no object: a snippet is called with names, as in `snippets.NAME(team='x')`")
    found = {name: part for name, part in observe(cast("Mapping[str, object]", given)).items() if name != OBSERVED}
    properties = cast("dict[str, object]", found.get("properties", {}))
    return {**found, "required": sorted(properties), "additionalProperties": False}


def _refuse_unfit(new: NewSnippet) -> None:
    if not new.name.isidentifier() or keyword.iskeyword(new.name) or new.name.startswith("_"):
        raise UsageError(f"`{new.name}` is no name for a snippet: it is called as `snippets.NAME(...)`")
    if len(new.name) > MAX_NAME or not new.name.isascii():
        raise UsageError(f"the name of a snippet has at most {MAX_NAME} characters of ASCII")
    if new.tool and new.name in TAKEN:
        raise UsageError(f"`{new.name}` is a tool of the MCP server already: take another name, or leave the mark out")
    if not new.description.strip() or len(new.description) > MAX_DESCRIPTION:
        raise UsageError(f"a snippet needs a description of at most {MAX_DESCRIPTION:,} characters: it is found by it")
    validator = Validator(cast("JsonSchema", json.loads(new.input_schema)))
    if not validator.usable:
        raise UsageError(f"its input schema is none: {validator.reason}")

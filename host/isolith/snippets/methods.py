"""The approved snippets as methods of a connector, and the catalogue that has them beside all that is connected."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from isolith.snippets.content import methods_of, schema_of
from isolith.snippets.library import changes, shown
from isolith_bindings.catalog import Catalog
from isolith_bindings.connector import Annotations, CallContext, Connector, Method
from isolith_bindings.errors import CallError
from isolith_bindings.policy import Policy, govern, ungoverned
from isolith_bindings.schema.validate import Validator
from isolith_bindings.search import SNIPPETS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from isolith.journal.snippet_model import Snippet
    from isolith.snippets.library import Shown
    from isolith_bindings.connector import Policy as Action

    Call = Callable[[str, Mapping[str, object], CallContext], Awaitable[object]]
    """Calls a snippet by its name. Raises CallError."""

_STRICTNESS: dict[Action, int] = {"allow": 0, "ask": 1, "deny": 2}


class SnippetCatalog(Catalog):
    """Everything that is connected, and the snippets that were approved."""

    def __init__(self, connectors: Iterable[Connector], policy: Policy, call: Call) -> None:
        super().__init__(connectors, self._shown)
        self._approved: tuple[Snippet, ...] = ()
        self._scripts = govern(SnippetConnector(self, call), policy)

    def put(self, approved: Iterable[Snippet]) -> None:
        """These are approved now. Who follows this catalogue is told where they are others than before."""
        found = tuple(approved)
        if found != self._approved:
            self._approved = found
            self._changed(None)

    @property
    def versions(self) -> dict[str, int]:
        """The newest approved version of each."""
        return {} if SNIPPETS in self.connectors else {snippet.name: snippet.version for snippet in self._approved}

    def of(self, name: str) -> list[Snippet]:
        """The approved versions of one, the newest last."""
        return [snippet for snippet in self._approved if snippet.name == name]

    def resolve(self, connector: str, method: str, *, hinted: bool = True) -> tuple[Connector, Method]:
        """Also `snippets.NAME`. Raises CallError `unknown_tool`."""
        if connector != SNIPPETS or SNIPPETS in self.connectors:
            return super().resolve(connector, method, hinted=hinted)
        found = self._scripts.methods.get(method)
        if found is None:
            raise CallError("unknown_tool", f"there is no snippet `{method}`, or it is approved no longer")
        return self._scripts, found

    def marked(self) -> list[tuple[Snippet, Method]]:
        """Those that are tools of their own, by name: the newest of each, where it is marked and can be called."""
        return [(snippet, method) for snippet, method in self._callable() if snippet.tool]

    def _shown(self) -> list[Shown]:
        return [shown(snippet) for snippet, _ in self._callable()]

    def _callable(self) -> list[tuple[Snippet, Method]]:
        newest = {snippet.name: snippet for snippet in self._approved}
        return [
            (newest[name], method)
            for name, method in self._scripts.methods.items()
            if method.policy != "deny" and not changes(newest[name], self)
        ]


class SnippetConnector:
    """`snippets`: what each is told of, and how it is called."""

    name = SNIPPETS
    description = "Scripts that a person has read."

    def __init__(self, catalog: SnippetCatalog, call: Call) -> None:
        self._catalog = catalog
        self._call = call
        self._known: dict[str, tuple[list[Snippet], Method]] = {}
        self.excluded: Mapping[str, str] = {}

    def __repr__(self) -> str:
        return "<the approved snippets>"

    @property
    def methods(self) -> Mapping[str, Method]:
        """One for each name, as strict as the strictest of what it calls."""
        return {name: self._method(name) for name in self._catalog.versions}

    def check(self, method: Method, arguments: Mapping[str, object]) -> None:
        """Whether its input fits: no person is asked about one that does not. Raises CallError `invalid_arguments`."""
        problems = Validator(method.parameters).problems(dict(arguments))
        if problems:
            raise CallError("invalid_arguments", f"{SNIPPETS}.{method.name}: {'; '.join(map(str, problems))}")

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        """Run it. Raises CallError."""
        return await self._call(method.name, arguments, context)

    async def start(self) -> None:
        """Nothing to make ready."""

    async def aclose(self) -> None:
        """Nothing is held."""

    def _method(self, name: str) -> Method:
        versions = self._catalog.of(name)
        made = self._made(name, versions)
        known = self._known.get(name)
        if known is not None and known[1] == replace(made, preview=known[1].preview):
            return known[1]  # the same object, so that what was decided of it stands
        self._known[name] = (versions, made)
        return made

    def _made(self, name: str, versions: list[Snippet]) -> Method:
        newest = versions[-1]
        required = [self._find(path) for version in versions for path in methods_of(version)]
        # Of what is not there nobody knows how strict it is.
        policies: list[Action] = ["allow", *("ask" if one is None else one.policy for one in required)]
        policy = max(policies, key=lambda one: _STRICTNESS[one])
        reads = all(one and one.annotations.trusted and one.annotations.read_only is True for one in required)
        calls = ", ".join(methods_of(newest)) or "nothing"
        told = shown(newest)

        def preview(**_arguments: object) -> str:
            return f"run version {newest.version}, which {newest.reviewed_by} approved; it calls {calls}"

        return Method(
            name,
            name,
            newest.description,
            schema_of(newest),
            None,
            told.signature,
            policy=policy,
            idempotent=True,  # called again, it goes on from its own journal
            preview=preview,
            annotations=Annotations(read_only=True, trusted=True) if reads else Annotations(),
        )

    def _find(self, path: str) -> Method | None:
        connector, _, method = path.partition(".")
        try:
            return self._catalog.resolve(connector, method)[1]
        except CallError:
            return None


def narrowed(catalog: Catalog, snippet: Snippet) -> Catalog:
    """What a snippet reaches: the methods it was reviewed with. Its own call was asked about, so these are not."""
    wanted: dict[str, list[str]] = {}
    for path in methods_of(snippet):
        connector, _, method = path.partition(".")
        wanted.setdefault(connector, []).append(method)
    return Catalog(_Narrowed(catalog.connectors[name], methods) for name, methods in wanted.items())


class _Narrowed:
    """Some methods of a connector. What its policy denies is denied by the connector behind, whatever it is sent."""

    def __init__(self, connector: Connector, methods: list[str]) -> None:
        self._connector = connector
        self._methods = methods
        self.name, self.description = connector.name, connector.description
        self.excluded: Mapping[str, str] = {}

    def __getattr__(self, name: str) -> object:
        """What the connector has beside the contract: waiting until it is known, letting go of what a run held."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(ungoverned(self._connector), name)

    @property
    def methods(self) -> Mapping[str, Method]:
        """Those, as they are now."""
        behind = self._connector.methods
        found = {name: behind[name] for name in self._methods if name in behind}
        return {name: replace(one, policy="allow") if one.policy == "ask" else one for name, one in found.items()}

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        """Pass it on. Raises CallError."""
        return await self._connector.call(self._connector.methods.get(method.name, method), arguments, context)

    async def start(self) -> None:
        """The host has made it ready."""

    async def aclose(self) -> None:
        """The host lets go of it."""

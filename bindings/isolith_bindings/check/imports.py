"""What an import binds: a connector that is there already, a module of Python's own, or what no script can have."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

from isolith_bindings.check import surroundings
from isolith_bindings.check.values import UNKNOWN, ConnectorRef, MethodRef, Named, Tools, Value

if TYPE_CHECKING:
    from isolith_bindings.check.state import State


class Imports:
    """Looks at import statements as the guest does, which takes those of connectors off."""

    def __init__(self, state: State) -> None:
        self.state = state

    def bindings(self, node: ast.Import | ast.ImportFrom) -> list[tuple[str, Value]]:
        """The names that it binds, and what they are."""
        if isinstance(node, ast.Import):
            return [self.module(alias, node) for alias in node.names]
        if node.level:
            return []
        return [pair for alias in node.names for pair in self.part(alias, node)]

    def module(self, alias: ast.alias, node: ast.Import) -> tuple[str, Value]:
        """`import NAME`, `import NAME as name`."""
        name = alias.asname or alias.name.partition(".")[0]
        if alias.name == "tools":
            return name, Tools()
        if self.has_module(alias.name):
            return name, self.namesake(alias)
        path = alias.name.removeprefix("tools.")
        first = path.partition(".")[0]
        if first in self.state.toolbox.connectors:
            return name, ConnectorRef(first) if alias.asname else self.plain(name)
        if path != alias.name:
            self.connector(first, node)
            return name, UNKNOWN
        self.importable(alias.name, node)
        return name, Named(alias.name if alias.asname else name)

    def has_module(self, path: str) -> bool:
        """Whether a connector and a module of Python's own are both meant by it."""
        first = path.partition(".")[0]
        return first in self.state.toolbox.connectors and surroundings.is_namesake(first)

    def namesake(self, alias: ast.alias) -> Value:
        """What `import MODULE` binds where a connector has the module's name: both of them."""
        first, _, rest = alias.name.partition(".")
        return self.either(alias.name) if rest and alias.asname else ConnectorRef(first, module=first)

    def either(self, path: str) -> Value:
        """What is found under a path: the connector's, where it writes it so, else the module's."""
        first, _, rest = path.partition(".")
        return MethodRef(first, rest) if self.state.toolbox.index(first).spells(rest) else Named(path)

    def plain(self, name: str) -> Value:
        """What `import tools.crm` leaves under the first of its names."""
        return Tools() if name == "tools" else ConnectorRef(name)

    def part(self, alias: ast.alias, node: ast.ImportFrom) -> list[tuple[str, Value]]:
        """`from MODULE import NAME`."""
        module = node.module or ""
        name = alias.asname or alias.name
        toolbox = self.state.toolbox
        if module == "tools" or self.is_phantom(module, node):
            return [] if alias.name == "*" else [(name, self.connector(alias.name, node))]
        first, _, prefix = module.removeprefix("tools.").partition(".")
        if self.has_module(module):
            return [] if alias.name == "*" else [(name, self.either(f"{module}.{alias.name}"))]
        if first in toolbox.connectors or module.startswith("tools."):
            if alias.name == "*":
                return []
            return [(name, self.method(first, f"{prefix}.{alias.name}" if prefix else alias.name, node))]
        self.importable(module, node)
        return [] if alias.name == "*" else [(name, Named(f"{module}.{alias.name}"))]

    def connector(self, name: str, node: ast.Import | ast.ImportFrom) -> Value:
        """A connector that is imported by name."""
        if name == "tools":
            return Tools()
        found = self.state.toolbox.find(name)
        if found is None:
            self.state.missing(node, self.state.toolbox.missing(name))
            return UNKNOWN
        return ConnectorRef(found)

    def method(self, connector: str, path: str, node: ast.ImportFrom) -> Value:
        """A method that is imported by name."""
        owner = self.connector(connector, node)
        if not isinstance(owner, ConnectorRef):
            return UNKNOWN
        index = self.state.toolbox.index(owner.name)
        if index.resolve(path) or index.has_prefix(path):
            return MethodRef(owner.name, path)
        if not index.is_ambiguous(path) and not self.state.toolbox.is_unknown(owner.name):
            self.state.missing(node, index.missing(path))
        return UNKNOWN

    def is_phantom(self, module: str, node: ast.ImportFrom) -> bool:
        """`from functions import crm`: a module that does not exist, with names that do."""
        connectors = self.state.toolbox.connectors
        first = module.partition(".")[0]
        known = first in sys.stdlib_module_names or first in connectors
        return not known and all(alias.name in connectors or alias.name == "tools" for alias in node.names)

    def importable(self, module: str, node: ast.Import | ast.ImportFrom) -> None:
        """A module that is not there; where it is tried, its absence is expected."""
        if self.state.guarded or surroundings.is_there(module):
            return
        toolbox = self.state.toolbox
        # `from functions import list_contacts`
        named = [alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else []
        meant = toolbox.meant(named[0]) if len(named) == 1 else []
        hint = surroundings.import_hint(module, toolbox.connectors, meant)
        self.state.say("exception", node, surroundings.import_failure(module), hint)

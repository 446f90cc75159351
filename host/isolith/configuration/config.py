"""`isolith.toml`: what to connect, what is allowed, what may be spent. JSON with the same names will do as well.

    connect = ["crm.py", "mcp.json"]          each as for --connect; paths are meant from the folder of the file

    [connectors.docs]                         an MCP server or an OpenAPI document, and how it is to be treated
    command = "npx"
    args = ["-y", "docs-server"]
    env = { TOKEN = "${DOCS_TOKEN}" }
    trusted = true

    [policy]
    preset = "careful"
    rules = [{ match = "docs.delete_*", action = "deny" }]

    [reverts]                                 what undoes a method, for `isolith executions rollback`
    "files.add" = "files.remove"

    [journal]                                 where executions are kept
    url = "postgresql://isolith:${DB_PASSWORD}@db/isolith"

    [budgets]                                 what a run gets unless it asks for something else
    [ceilings]                                how far it may ask; "unlimited" lifts one

An `mcp.json` is a configuration too: its `mcpServers`, or `servers` and `inputs`, may stand in it as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from isolith.budgets import CEILINGS, UNLIMITED, Budgets, HostPolicy
from isolith.configuration.connector_entries import ConnectorEntry
from isolith.configuration.documents import MAX_BYTES, explain, read_bytes, read_document
from isolith.configuration.server_entries import servers_in
from isolith.durable.reverts import RevertEntry
from isolith.errors import BudgetError, ConnectError, UsageError
from isolith_bindings.policy import Policy, Preset

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import TypeVar

    T = TypeVar("T")


BEYOND: Final = {
    "policy": "a policy",
    "budgets": "budgets",
    "ceilings": "ceilings",
    "reverts": "reverts",
    "journal": "a journal",
}
"""What a configuration says beside what it connects."""


def _by_name(value: object) -> object:
    return {"preset": value} if isinstance(value, str) else value


class JournalEntry(BaseModel):
    """Where executions are kept."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, hide_input_in_errors=True)

    url: Annotated[str, Field(repr=False, min_length=1)]
    """A file, meant from the folder of this one, or `postgresql://...`. `${NAME}` stands for the environment's."""


class Config(BaseModel):
    """What a configuration file may say. Everything may be left out."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, hide_input_in_errors=True, populate_by_name=True
    )

    connect: tuple[str, ...] = ()
    """What scripts may call, each as for `--connect`. Paths are meant from the folder of this file."""
    connectors: Mapping[str, ConnectorEntry] = Field(default_factory=dict[str, ConnectorEntry])
    """MCP servers and OpenAPI documents by the name that scripts use."""
    policy: Annotated[Policy | None, BeforeValidator(_by_name, json_schema_input_type=Preset | Policy | None)] = None
    """The name of a preset, or a preset with rules."""
    budgets: Budgets | None = None
    """What a run gets unless it asks for something else."""
    ceilings: Mapping[str, int | float | Literal["unlimited"]] = Field(
        default_factory=dict[str, int | float | Literal["unlimited"]]
    )
    """How far a run may raise a budget; what is left out has the ceiling of Isolith."""
    reverts: Mapping[str, RevertEntry] = Field(default_factory=dict[str, RevertEntry])
    """What undoes methods that do not say so themselves, `connector.method` to `connector.method`."""
    journal: JournalEntry | None = None
    """Where executions are kept, if not in the user's data folder."""
    mcp_servers: Mapping[str, object] = Field(default_factory=dict[str, object], alias="mcpServers", repr=False)
    """As Claude and Cursor write them."""
    servers: Mapping[str, object] = Field(default_factory=dict[str, object], repr=False)
    """As VS Code writes them, with `inputs`."""
    inputs: tuple[Mapping[str, object], ...] = Field(default=(), repr=False)
    schema_: Annotated[str | None, Field(alias="$schema")] = None

    @property
    def granted(self) -> HostPolicy:
        """The ceilings as the host takes them. Raises BudgetError."""
        lifted = {name: UNLIMITED if value == "unlimited" else value for name, value in self.ceilings.items()}
        return HostPolicy(Budgets.model_validate({**CEILINGS.model_dump(exclude_unset=True), **lifted}))


@dataclass(frozen=True)
class ConfigFile:
    """A configuration, where it was read, and the document itself, for the servers in it that other programs know."""

    config: Config
    path: Path
    document: Mapping[str, object]

    @property
    def spec_paths(self) -> list[str]:
        """What it connects by path, meant from where it is read; of what is no path, no path that is there."""
        return [str(self.path.parent / spec.rpartition("=")[2]) for spec in self.config.connect]

    @property
    def has_servers(self) -> bool:
        """Whether it holds servers in one of the shapes of `mcp.json`."""
        return bool(servers_in(self.document))


def only_configured(document: Mapping[str, object], path: Path, beyond: Mapping[str, str]) -> None:
    """Refuse a document that is connected and says more than that: what it allows would be ignored without a word.

    `beyond`: the keys that say more, and how they are called. Raises ConnectError.
    """
    told = [what for key, what in beyond.items() if key in document]
    if told:
        listed = " and ".join([", ".join(told[:-1]), told[-1]] if told[1:] else told)
        verb = "count" if told[1:] or told[0].endswith("s") else "counts"
        raise ConnectError(f"`{path}` has {listed}, which {verb} only where it is given with `--config {path}`")


def read_config(path: Path) -> ConfigFile:
    """A configuration file, TOML or JSON. Raises UsageError, which names the file and the place in it."""
    document = read_document(path, "the configuration")
    return ConfigFile(_checked(path, lambda: _config(document)), path, document)


def read_policy(path: Path) -> Policy:
    """A policy by itself in a file, or the one of a configuration. Raises UsageError."""
    document = read_document(path, "the policy")
    told = document.get("policy", document)
    found = _checked(path, lambda: Config.model_validate({"policy": told}).policy)
    if found is None:
        raise UsageError(f"`{path}` says no policy: give it `preset` and `rules`")
    return found


def config_schema() -> dict[str, object]:
    """The JSON Schema of a configuration file."""
    return Config.model_json_schema(by_alias=True, mode="validation")


def _config(document: Mapping[str, object]) -> Config:
    config = Config.model_validate({key: value for key, value in document.items() if key != "mcp"})
    _ = config.granted  # a ceiling that makes no sense is one of the file
    return config


def _checked(path: Path, read: Callable[[], T]) -> T:
    try:
        return read()
    except ValidationError as error:
        raise UsageError(f"`{path}`: {explain(error, Config, _toml(path))}") from None
    except BudgetError as error:
        raise UsageError(f"`{path}`: {error}") from error


def _toml(path: Path) -> str:
    """The text of a configuration again, to find a line in."""
    return read_bytes(path, "the configuration", MAX_BYTES).decode(errors="replace") if path.suffix == ".toml" else ""

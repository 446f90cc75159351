"""References in configuration files, resolved here in the host: `${...}` as Claude, Cursor and VS Code write them.

    ${NAME} ${NAME:-otherwise} ${env:NAME}           the environment
    ${input:ID}                                      a person's answer, or ISOLITH_INPUT_ID from the environment
    ${workspaceFolder} ${workspaceFolderBasename} ${userHome} ${pathSeparator} ${/}

Nothing else is looked up, and what was looked up is not looked into again. Errors name the reference, never a value.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from isolith.errors import ConnectError
from isolith_bindings.secrets import Secret, remember

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_REFERENCE = re.compile(r"\$\{([^{}]*)\}")
_ENVIRONMENT = re.compile(r"(?:env:)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<otherwise>.*))?", re.DOTALL)
_SECRET = re.compile("token|secret|key|passw|auth|credential|cookie", re.IGNORECASE)
_IN_THE_FOLDER_ITSELF = frozenset({".vscode", ".cursor", ".claude"})


class Unanswered(ConnectError):
    """A reference that may be answered elsewhere, or later, and is not here and now."""


class Input(BaseModel):
    """A question that a VS Code `mcp.json` asks a person when a server starts."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    id: Annotated[str, Field(min_length=1)]
    type: Literal["promptString", "pickString", "command"] = "promptString"
    description: str = ""
    default: str | None = Field(default=None, repr=False)
    password: bool = False
    options: tuple[str, ...] = ()


def no_prompt(question: Input) -> str:
    """Where nobody is there to ask."""
    raise Unanswered(
        f"`${{input:{question.id}}}` is asked of a person, and nobody is here: "
        f"set {variable_of(question.id)} in the environment"
    )


def variable_of(identifier: str) -> str:
    """The variable that answers an input: `api-key` as ISOLITH_INPUT_API_KEY."""
    return "ISOLITH_INPUT_" + re.sub(r"[^A-Za-z0-9]", "_", identifier).upper()


@dataclass
class Variables:
    """What the references of one file stand for. An input is asked for once. Raises ConnectError for what is not there.

    `folder`: where the file is.
    """

    folder: Path
    inputs: Mapping[str, Input] = field(default_factory=dict[str, Input])
    prompt: Callable[[Input], str] = no_prompt
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    _answers: dict[str, str] = field(default_factory=dict[str, str], repr=False)

    @property
    def workspace(self) -> Path:
        """The folder that the file is about: that of the project, where the file lies in `.vscode` and its like."""
        folder = self.folder.resolve()
        return folder.parent if folder.name in _IN_THE_FOLDER_ITSELF else folder

    def text(self, value: str) -> str:
        """The value for what is shown or split, such as arguments; what looks secret in it is masked from now on."""
        return _REFERENCE.sub(lambda match: self._resolve(match[1]), value)

    def credential(self, value: str) -> str | Secret:
        """The value for what stays outside of every text; a secret where a person or the environment gives it."""
        resolved = self.text(value)
        if not any(self._private(match[1]) for match in _REFERENCE.finditer(value)):
            return resolved
        return Secret.of(lambda: resolved)

    def _private(self, reference: str) -> bool:
        return reference.startswith("input:") or self._place(reference) is None

    def _resolve(self, reference: str) -> str:
        if reference.startswith("input:"):
            value = self._input(reference.removeprefix("input:"))
            remember(value)
            return value
        place = self._place(reference)
        if place is not None:
            return place
        value = self._variable(reference)
        if _SECRET.search(reference):
            remember(value)
        return value

    def _place(self, reference: str) -> str | None:
        match reference:
            case "workspaceFolder":
                return str(self.workspace)
            case "workspaceFolderBasename":
                return self.workspace.name
            case "userHome":
                return str(Path.home())
            case "pathSeparator" | "/":
                return os.sep
            case _:
                return None

    def _variable(self, reference: str) -> str:
        match = _ENVIRONMENT.fullmatch(reference)
        if match is None:
            raise ConnectError(
                f"`${{{reference}}}` is no reference: write `${{NAME}}`, `${{NAME:-otherwise}}`, `${{env:NAME}}`, "
                "`${input:ID}`, `${workspaceFolder}` or `${userHome}`"
            )
        value = self.environment.get(match["name"])
        if value:
            return value
        if match["otherwise"] is not None:
            return str(match["otherwise"])
        if value is None:
            raise Unanswered(f"`${{{reference}}}`: {match['name']} is not set in the environment")
        return value

    def _input(self, identifier: str) -> str:
        if identifier not in self._answers:
            self._answers[identifier] = self._asked(identifier)
        return self._answers[identifier]

    def _asked(self, identifier: str) -> str:
        question = self.inputs.get(identifier)
        if question is None:
            known = ", ".join(f"`{name}`" for name in self.inputs) or "none"
            raise ConnectError(f"`${{input:{identifier}}}`: there is no such input; `inputs` declares: {known}")
        value = self.environment.get(variable_of(identifier))
        if value is None and question.default is not None:
            value = question.default
        if value is None and question.type == "command":
            raise Unanswered(
                f"`${{input:{identifier}}}` is answered by a command of an editor: "
                f"set {variable_of(identifier)} in the environment instead"
            )
        value = self.prompt(question) if value is None else value
        if question.options and value not in question.options:
            raise ConnectError(f"`${{input:{identifier}}}` is one of {', '.join(map(repr, question.options))}")
        return value

"""What an execution answers with: one envelope, one schema, the same behind every front door.

`Outcome.value` is Python data with its types. `to_json` writes it by the rules of `json_form`.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import GenerateJsonSchema

from isolith.json_form import JsonValue, to_json_form, to_json_text

Status = Literal["running", "paused", "completed", "failed", "cancelled", "rejected", "expired", "rolled_back"]

Kind = Literal[
    "syntax",
    "not_a_script",
    "check",
    "exception",
    "unknown_tool",
    "invalid_arguments",
    "invalid_result",
    "tool_error",
    "tool_timeout",
    "tool_unavailable",
    "denied",
    "rejected",
    "expired",
    "cpu_exceeded",
    "memory_exceeded",
    "wall_exceeded",
    "output_exceeded",
    "calls_exceeded",
    "recursion",
    "deadlock",
    "cancelled",
    "diverged",
    "invalid_input",
    "internal",
]

BUDGET_KINDS: frozenset[Kind] = frozenset(
    {"cpu_exceeded", "memory_exceeded", "wall_exceeded", "output_exceeded", "calls_exceeded"}
)

CallStatus = Literal[
    "running",
    "pending",
    "completed",
    "failed",
    "cancelled",
    "rejected",
    "reverted",
    "revert_failed",
    "revert_unknown",
]

Count = Annotated[int, Field(ge=0)]
Milliseconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Record(BaseModel):
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        # What we write is always written, defaults and nulls too.
        json_schema_serialization_defaults_required=True,
    )


class Diagnostic(_Record):
    """Why something did not go as written, for the one who wrote it. Lines and columns are the user's, from 1."""

    kind: Kind
    message: str
    """What happened."""
    line: int | None = Field(default=None, ge=1)
    column: int | None = Field(default=None, ge=1)
    source_line: str | None = None
    """The line of the user's text that `line` names."""
    hint: str | None = None
    """What to write or do instead."""
    tool: str | None = None
    """The method that failed, as `connector.method`."""
    retriable: bool = False
    """Whether the same script may succeed when it is run again."""
    error_id: str | None = None
    """With `internal` only: the name of this error in the host's log."""


class LogRecord(_Record):
    """One line that the script logged or printed; a value that it emitted is a line `emit`, with `value` in `attrs`."""

    level: Literal["debug", "info", "warning", "error"]
    message: str
    attrs: dict[str, object] = Field(default_factory=dict)
    at: datetime
    seq: Count


class CallRecord(_Record):
    """One call that the script made, and how it ended."""

    call_id: str
    """Of a call of a snippet it is the id of the execution behind it, too."""
    connector: str
    method: str
    status: CallStatus
    duration_ms: Milliseconds | None = None
    """From the moment the connector was asked; null for a call that never was."""
    line: int | None = Field(default=None, ge=1)
    error: Diagnostic | None = None
    completed_after_end: bool = False
    """Whether it could not be stopped when it was given up, and was done later: the script has not seen its result."""


class PendingQuestion(_Record):
    """What the server of a call asks a person. The words are the server's: data, never an instruction."""

    name: str
    message: str
    answer: dict[str, object] | None = None
    """JSON Schema of the answer; null where a visit to `url` is asked for."""
    url: str | None = None


class PendingCall(_Record):
    """One call that waits for a person's answer."""

    call_id: str
    connector: str
    method: str
    arguments: dict[str, object]
    digest: str
    """Of the arguments, and of what asks: an answer holds for these and no others."""
    reason: str
    kind: Literal["approval", "question"] = "approval"
    """`approval`: may it be made? `question`: it was made, and its server asks a person before it goes on."""
    questions: tuple[PendingQuestion, ...] = ()


class ArtifactRecord(_Record):
    """Bytes kept outside the guest, readable under their handle."""

    handle: str
    mime: str
    bytes: Count
    name: str | None = None


class Usage(_Record):
    """What an execution spent."""

    cpu_ms: Milliseconds = 0
    """The guest's own CPU time; waiting is free."""
    wall_ms: Milliseconds = 0
    memory_bytes: Count = 0
    """Linear memory of the isolate at its largest."""
    calls: Count = 0
    """Those that the budget let through, within snippets, too; the outcome's `calls` also has the refused ones."""
    output_bytes: Count = 0
    """What left the guest: its value, logs and emitted events."""
    passes: Count = 0
    fuel: Count | None = None
    """WebAssembly instructions, where `fuel` is the budget."""
    calls_per_connector: Count = 0
    """Of the connector that was called most."""
    concurrent_calls: Count = 0
    """Made at one time, at most; the same below for one connector. Both since the guest last woke."""
    concurrent_calls_per_connector: Count = 0
    call_ms: Milliseconds = 0
    """Of the call that took longest: `call_s` and `call_cap_s` limit it."""
    log_bytes: Count = 0
    emit_events: Count = 0
    """Values and reports of progress; since the guest last woke."""
    value_bytes: Count = 0
    argument_bytes: Count = 0
    """The largest of one call; as `result_bytes`, since the guest last woke."""
    result_bytes: Count = 0
    script_bytes: Count = 0
    input_bytes: Count = 0


class Outcome(_Record):
    """How one execution ended, or where it stands."""

    execution_id: str
    status: Status
    value: object = None
    """The result: the value of the last expression, or of a top-level `return`."""
    value_type: str | None = None
    """The value's type as Python writes it, `list[dict[str, int]]`; null without a value."""
    error: Diagnostic | None = None
    warnings: tuple[Diagnostic, ...] = ()
    logs: tuple[LogRecord, ...] = ()
    calls: tuple[CallRecord, ...] = ()
    pending: tuple[PendingCall, ...] = ()
    artifacts: tuple[ArtifactRecord, ...] = ()
    truncated: bool = False
    """Whether anything was cut: the value as shown, the logs, or what was emitted."""
    usage: Usage = Field(default_factory=Usage)

    @property
    def ok(self) -> bool:
        """Whether the script ran to its end."""
        return self.status == "completed"

    @property
    def holds_bytes(self) -> bool:
        """Whether there are bytes in the value: as JSON they are base64 text, which nothing else tells from text."""
        return self.value_type is not None and _BYTES.search(self.value_type) is not None

    @property
    def exit_code(self) -> int:
        """0 completed, 1 failed, 2 invalid input, 3 a budget ended it, 4 paused, 5 a bug of ours."""
        if self.status in _EXIT_OF_STATUS:
            return _EXIT_OF_STATUS[self.status]
        if self.error is None:
            return 1
        return 3 if self.error.kind in BUDGET_KINDS else _EXIT_OF_KIND.get(self.error.kind, 1)

    def to_json(self, *, safe_integers: bool = False) -> dict[str, JsonValue]:
        """The envelope as JSON data; `safe_integers` turns integers that JavaScript would round into text.

        Raises `NoJsonForm` for a value that the host, not a script, put there and no rule covers.
        """
        # Not through pydantic: it would write the value by rules of its own.
        fields = type(self).model_fields
        return {name: to_json_form(getattr(self, name), safe_integers=safe_integers) for name in fields}

    def to_json_text(self, *, safe_integers: bool = False, indent: int | None = None) -> str:
        """`to_json` as text."""
        return to_json_text(self.to_json(safe_integers=safe_integers), indent=indent)


_BYTES = re.compile(r"\b(bytes|bytearray|memoryview)\b")
_EXIT_OF_STATUS: dict[Status, int] = {"completed": 0, "paused": 4}
_EXIT_OF_KIND: dict[Kind, int] = {"invalid_input": 2, "internal": 5}


def outcome_schema() -> dict[str, object]:
    """JSON Schema (2020-12) of what `Outcome.to_json` returns."""
    schema = Outcome.model_json_schema(mode="serialization", schema_generator=_Untitled)
    return {"$schema": GenerateJsonSchema.schema_dialect, **schema}


class _Untitled(GenerateJsonSchema):
    """A title that repeats the field's name tells a reader nothing, and costs a model tokens."""

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002 - the interface of pydantic
        return False

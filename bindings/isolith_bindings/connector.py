"""The contract that every connector keeps, whatever is behind it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from pydantic import GetCoreSchemaHandler  # noqa: TC002 - pydantic reads the annotation
from pydantic_core import CoreSchema, core_schema

from isolith_bindings.errors import BindingError, CallError

if TYPE_CHECKING:
    from isolith_bindings.files import Stored

JsonSchema = dict[str, object]

Policy = Literal["allow", "ask", "deny"]
"""`allow`: called at once. `ask`: a person decides on each call. `deny`: a script neither sees nor calls it."""

Hook = Callable[..., object] | str
"""A function, or the name of another method of the same connector."""


class Progress(Protocol):
    """How a call says that it is still at work, which also extends its time. From any thread, until the call ends."""

    def __call__(self, done: float, total: float | None = None, text: str | None = None) -> None:
        """`done` of `total` in any unit; `text` is for people."""


@dataclass(frozen=True)
class Annotations:
    """What the other side says of a method; None where it says nothing. Believed only where `trusted`."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None
    trusted: bool = False
    """Whether the host's configuration trusts who said it."""


Variant = Literal["", "raw", "pages"]
"""Another way to use a method: `.raw(...)` answers as the other side did, `.pages(...)` gives items of all pages."""


@dataclass(frozen=True)
class Method:
    """One method as scripts see it, and what the host must know to make the call.

    `name` is the Python identifier, or several joined by dots; `original` the name on the other side. `signature` is
    text for a model to read. `variants`: the other ways it can be used.
    """

    name: str
    original: str
    description: str
    parameters: JsonSchema
    returns: JsonSchema | None
    signature: str
    policy: Policy = "allow"
    idempotent: bool = False
    revert: Hook | None = None
    preview: Hook | None = None
    annotations: Annotations = Annotations()
    tags: tuple[str, ...] = ()
    deprecated: bool = False
    variants: frozenset[Variant] = frozenset()

    def source(self, argument: str = "") -> str:  # noqa: ARG002 - what is written nowhere has no place
        """Where it is written what an argument is, or the method itself: for messages, and empty where nobody knows."""
        return ""


class ArtifactRef:
    """Bytes kept outside the guest, as a value in arguments and results. `size` in bytes.

    No dataclass: pydantic would write one as a mapping, and it has to stay what it is.
    """

    __slots__ = ("handle", "mime", "name", "size")

    def __init__(self, handle: str, mime: str, size: int, name: str | None = None) -> None:
        self.handle, self.mime, self.size, self.name = handle, mime, size, name

    def __artifact__(self) -> tuple[str, str, int, str | None]:
        """What crosses in its place."""
        return (self.handle, self.mime, self.size, self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArtifactRef) and self.__artifact__() == other.__artifact__()

    def __hash__(self) -> int:
        return hash(self.handle)

    def __repr__(self) -> str:
        return f"ArtifactRef({self.handle!r}, {self.mime!r}, {self.size}, {self.name!r})"

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        """An instance, kept as it is; in JSON Schema the text of its handle."""
        return core_schema.json_or_python_schema(
            core_schema.str_schema(metadata={"pydantic_js_updates": {"format": "artifact"}}),
            core_schema.is_instance_schema(cls),
            serialization=core_schema.plain_serializer_function_ser_schema(
                _as_it_is, return_schema=core_schema.any_schema()
            ),
        )


def _as_it_is(value: object) -> object:
    return value


class Artifacts(Protocol):
    """The artifacts of the execution that a call belongs to."""

    def keep(self, content: Stored, *, mime: str, name: str | None = None) -> ArtifactRef:
        """Keep bytes. Raises CallError `invalid_result` where the execution keeps as much as it may."""
        ...

    def read(self, ref: ArtifactRef) -> bytes:
        """The bytes behind a reference. Raises CallError `invalid_arguments` for one of another execution."""
        ...


@dataclass(frozen=True)
class Question:
    """What the other side asks a person during a call: data of a `schema`, or a visit to `url`. Text is untrusted.

    `may_wait`: the call can be made again with the answer (`Suspended`), so that a person may take days.
    """

    message: str
    schema: JsonSchema | None = None
    url: str | None = None
    may_wait: bool = False


Action = Literal["accept", "decline", "cancel"]


@dataclass(frozen=True)
class Answer:
    """What the person said. `content` is there with `accept`, where the question had a schema."""

    action: Action
    content: Mapping[str, object] | None = None


Ask = Callable[[Question], Awaitable[Answer]]


class Suspended(BindingError):
    """The other side asks a person, and nothing of the call is open meanwhile: it can be made again with the answers.

    Raised by a connector, in place of an answer, where the context `waits`. `state`: JSON data, what the connector
    needs to go on, in this process or in another.
    """

    def __init__(self, questions: Mapping[str, Question], state: object) -> None:
        super().__init__("the other side asks a person")
        self.questions, self.state = questions, state


@dataclass(frozen=True)
class Resumed:
    """The same call, made again: what `Suspended` held, and what was said to each of its questions."""

    state: object
    answers: Mapping[str, Answer]


async def declining(_question: Question) -> Answer:
    """Decline at once: nobody is there to ask."""
    return Answer("decline")


class _NoArtifacts:
    """Where a call belongs to no execution."""

    def keep(self, content: Stored, *, mime: str, name: str | None = None) -> ArtifactRef:  # noqa: ARG002
        raise CallError("invalid_result", "this call keeps no artifacts")

    def read(self, ref: ArtifactRef) -> bytes:
        raise CallError("invalid_arguments", f"there is no artifact `{ref.handle}` here")


NO_ARTIFACTS = _NoArtifacts()


def unawaited(_value: object) -> None:
    """What comes too late, where nobody keeps that."""


def unheard(done: float, total: float | None = None, text: str | None = None) -> None:
    """Progress that nobody follows."""


@dataclass(frozen=True)
class CallContext:
    """For whom and within what a call is made. Valid until the call ends; later progress is dropped.

    With the variant `pages` the answer is one page, `{"items": [...], "cursor": ...}`: `cursor` is None for the first
    and what the page before named for the next. It has been in the guest since, and is hostile. `waits`: the call may
    be put off until a person has answered (`Suspended`); `resumed`: it was, and somebody has. `late`: told, in the
    event loop, what a call came to that could not be stopped when it was given up. `doubt`: told, in a line, how an
    answer that is given all the same is not what was promised; None where nobody wants to know.
    """

    execution_id: str
    call_id: str
    principal: str | None
    session: str | None
    deadline_s: float
    progress: Progress
    artifacts: Artifacts = NO_ARTIFACTS
    ask: Ask = declining
    variant: Variant = ""
    cursor: object = None
    waits: bool = False
    resumed: Resumed | None = None
    late: Callable[[object], None] = unawaited
    doubt: Callable[[str], None] | None = None


@runtime_checkable
class Connector(Protocol):
    """Something with methods that a script can call.

    `methods` is by Python name and may change between calls. `excluded`: what is not bound, by original name, and why.
    """

    @property
    def name(self) -> str:
        """The global that scripts use: a Python identifier."""
        ...

    @property
    def description(self) -> str:
        """What it is for, in the words of who wrote it; may be empty."""
        ...

    @property
    def methods(self) -> Mapping[str, Method]:
        """By Python name."""
        ...

    @property
    def excluded(self) -> Mapping[str, str]:
        """Original name of what could not be bound, and why."""
        ...

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        """Make one call. Raises CallError, and Suspended where the context `waits`; cancellation passes through."""

    async def start(self) -> None:
        """Make ready. Idempotent."""

    async def aclose(self) -> None:
        """Let go of what it holds. Idempotent."""


@runtime_checkable
class Checks(Protocol):
    """A connector that can say whether a call could be made, without making it: a person is asked about no other."""

    def check(self, method: Method, arguments: Mapping[str, object]) -> None:
        """Raises CallError: `invalid_arguments`, or `tool_unavailable` where something that it needs is missing.

        On a thread where the arguments are many (`beside`).
        """


def offered(connector: Connector) -> dict[str, Method]:
    """The methods that scripts may know of: all but the denied, which exist for no script."""
    return {name: method for name, method in connector.methods.items() if method.policy != "deny"}

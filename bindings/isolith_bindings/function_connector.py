"""The connector that Python functions become: bound once, each call validated, run and told apart from its failures."""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import dataclasses
import functools
import inspect
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from isolith_bindings import names
from isolith_bindings.connector import CallContext, Hook, Method, Policy, Suspended
from isolith_bindings.errors import BindError, CallError
from isolith_bindings.hooks import refuse_unfit_hooks
from isolith_bindings.signature import Signature, read_signature
from isolith_bindings.threads import Threads
from isolith_bindings.validation import check_arguments, check_result

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

MAX_THREADS = 64
"""Blocking calls under way in one connector, those included that were given up and have not ended."""


@dataclass(frozen=True)
class MethodOptions:
    """What `@method` says of a function."""

    policy: Policy = "allow"
    idempotent: bool = False
    revert: Hook | None = None
    preview: Hook | None = None
    name: str | None = None


@dataclass(frozen=True)
class Candidate:
    """A function that is to become a method. `function` is what to read, `get` gives what to call."""

    original: str
    function: Callable[..., object]
    skip_first: bool
    get: Callable[[], Callable[..., object]]
    options: MethodOptions


class Instance:
    """An object, or the one instance of a class, made without arguments when it is first needed."""

    def __init__(self, obj: object) -> None:
        self._obj = obj
        self._lock = threading.Lock()

    def getter(self, attribute: str) -> Callable[[], Callable[..., object]]:
        """What gives the bound method. Raises CallError `tool_unavailable` while the class cannot be made."""
        return lambda: cast("Callable[..., object]", getattr(self._made(), attribute))

    def _made(self) -> object:
        with self._lock:
            if isinstance(self._obj, type):
                cls: type[object] = self._obj
                try:
                    self._obj = cls()
                except Exception as error:
                    message = f"{cls.__name__} could not be made: {_text(error)}"
                    raise CallError("tool_unavailable", message, retriable=True) from error
            return self._obj


@dataclass(frozen=True)
class _Bound:
    candidate: Candidate
    signature: Signature


class FunctionConnector:
    """Python functions as a connector. Raises BindError for a function that no script could call."""

    def __init__(self, name: str, description: str, candidates: list[Candidate], origin: str) -> None:
        if not candidates:
            raise BindError(f"{origin} has nothing to call: give it a public function or method")
        self.name = name
        self.description = description
        self.methods: dict[str, Method] = {}
        self._origin = origin
        self._threads = Threads(MAX_THREADS)
        self._bound: dict[str, _Bound] = {}
        by_original = {candidate.original: candidate for candidate in candidates}
        bound, self.excluded = names.bind(candidate.original for candidate in candidates)
        for python, original in bound.items():
            candidate = by_original[original]
            signature = read_signature(candidate.function, f"{name}.{python}", skip_first=candidate.skip_first)
            self._bound[python] = _Bound(candidate, signature)
            self.methods[python] = _method(python, candidate, signature)
        refuse_unfit_hooks(name, self.methods)

    def __repr__(self) -> str:
        return f"<connector {self.name} from {self._origin}>"

    def check(self, method: Method, arguments: Mapping[str, object]) -> None:
        """Whether a call could be made. Raises CallError `invalid_arguments`; nothing is called."""
        bound = self._bound.get(method.name)
        if bound is not None:
            check_arguments(f"{self.name}.{method.name}", bound.signature, arguments)

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        """Validate, run, validate. Raises CallError; cancellation reaches an async function."""
        tool = f"{self.name}.{method.name}"
        bound = self._bound.get(method.name)
        if bound is None:
            raise CallError("unknown_tool", f"there is no {tool}")
        values = check_arguments(tool, bound.signature, arguments)

        def late(result: object) -> None:
            with contextlib.suppress(CallError):  # what is no result of this function is told to nobody
                context.late(check_result(tool, bound.signature.result, result))

        if bound.signature.contexts:
            with _LiveProgress(context) as live:
                values |= dict.fromkeys(bound.signature.contexts, live)
                result = await self._run(tool, functools.partial(bound.candidate.get(), **values), late)
        else:
            result = await self._run(tool, functools.partial(bound.candidate.get(), **values), late)
        return check_result(tool, bound.signature.result, result)

    async def start(self) -> None:
        """Nothing to make ready: a class is instantiated by its first call."""

    async def aclose(self) -> None:
        """Nothing is held."""

    async def _run(self, tool: str, function: Callable[[], object], late: Callable[[object], None]) -> object:
        if inspect.iscoroutinefunction(function):
            return await _awaited(tool, cast("Awaitable[object]", function()))
        result = await self._threads.run(functools.partial(_called, function), tool, late)
        # A plain function may still hand back an awaitable: a decorated async one does.
        return await _awaited(tool, cast("Awaitable[object]", result)) if inspect.isawaitable(result) else result


def _method(python: str, candidate: Candidate, signature: Signature) -> Method:
    options = candidate.options
    return Method(
        name=python,
        original=candidate.original,
        description=inspect.getdoc(candidate.function) or "",
        parameters=signature.parameters,
        returns=signature.returns,
        signature=signature.text(python),
        policy=options.policy,
        idempotent=options.idempotent,
        revert=options.revert,
        preview=options.preview,
    )


# ---------------------------------------------------------------------------------------------- one call


class _LiveProgress:
    """The context of one call with a `progress` that any thread may call and that is dropped once the call is over."""

    def __init__(self, context: CallContext) -> None:
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._live = True

    def __enter__(self) -> CallContext:
        return dataclasses.replace(self._context, progress=self._progress)

    def __exit__(self, *_: object) -> None:
        self._live = False

    def _progress(self, done: float, total: float | None = None, text: str | None = None) -> None:
        if threading.get_ident() == self._thread:
            self._report(done, total, text)
        elif self._live:
            self._loop.call_soon_threadsafe(self._report, done, total, text)

    def _report(self, done: float, total: float | None, text: str | None) -> None:
        if self._live:
            self._context.progress(done, total, text)


def _called(function: Callable[[], object]) -> object:
    """In a thread: nothing here is cancelled or interrupted, so whatever is raised is the function's own."""
    try:
        return function()
    except BaseException as error:
        raise _failure(error) from error


async def _awaited(tool: str, awaitable: Awaitable[object]) -> object:
    try:
        return await awaitable
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        # Nobody cancelled this call: the function let out the cancellation of something of its own.
        raise CallError("tool_error", f"{tool} was cancelled from within") from error
    except (KeyboardInterrupt, GeneratorExit):
        raise
    # All of them: a SystemExit of a tool must not end the host.
    except BaseException as error:
        raise _failure(error) from error


def _failure(error: BaseException) -> CallError | Suspended:
    """What a script may see of an exception: its message and its built-in class. Ours are passed as they are."""
    if isinstance(error, CallError | Suspended):
        return error
    return CallError("tool_error", _text(error), exception=_builtin_class(error))


_MAX_GROUPS = 20
"""Groups in groups that are told."""


def _text(error: BaseException, depth: int = 0) -> str:
    name = type(error).__name__
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - the exception is the tool's own, and so is its __str__
        return name
    if isinstance(error, BaseExceptionGroup) and depth < _MAX_GROUPS:
        inner = cast("BaseExceptionGroup[BaseException]", error).exceptions
        return f"{text}: {'; '.join(f'{type(e).__name__}: {_text(e, depth + 1)}' for e in inner)}"
    return text or name


def _builtin_class(error: BaseException) -> str | None:
    for cls in type(error).__mro__:
        if cls is Exception:
            break
        if cls.__module__ == builtins.__name__ and issubclass(cls, Exception):
            return cls.__name__
    return None

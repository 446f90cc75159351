"""Credentials that stay outside the guest: where they come from, and how every text is cleared of them.

A secret is read when it is needed and shown nowhere: not in a repr, a log, an error or what a server echoes. Whatever
was read once in this process is known to `redact`, which masks it in its usual spellings too.
"""

from __future__ import annotations

import base64
import inspect
import json
import logging
import os
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, cast
from urllib.parse import quote, quote_plus

from isolith_bindings.errors import CallError
from isolith_bindings.files import PIECE, ByteFile
from isolith_bindings.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator

MASK = "[secret]"
# Shorter ones would mask ordinary words; in a body from a server, more so.
SHORTEST_IN_TEXT = 4
SHORTEST_IN_CONTENT = 8
# Tokens are renewed every hour: the oldest spellings are forgotten.
MOST_KNOWN = 2048
LONGEST_SECRET = 64 << 10

_threads = Threads(limit=8)
_known: dict[str, None] = {}


class SecretUnavailable(CallError):
    """A secret cannot be read where it should be. The message names the place and says how to fill it."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__("tool_unavailable", message, hint=hint)


class Secret:
    """A credential by its source. `reveal` reads it; every text form of the object is a mask."""

    __slots__ = ("_label", "_source", "_variable")

    def __init__(self, source: Callable[[], object], label: str, variable: str | None = None) -> None:
        self._source = source
        self._label = label
        self._variable = variable

    @classmethod
    def env(cls, name: str) -> Secret:
        """From an environment variable, read at each use."""

        def read() -> str:
            value = os.environ.get(name)
            if not value:
                raise SecretUnavailable(f"the environment variable {name} is not set", hint=f"export {name}=...")
            return value

        return cls(read, f"env {name}", name)

    @classmethod
    def file(cls, path: str | Path) -> Secret:
        """From a UTF-8 file, read at each use; blanks and line breaks around it are dropped."""

        def read() -> str:
            try:
                with Path(path).expanduser().open("rb") as file:
                    content = file.read(LONGEST_SECRET + 1)
                return content.decode().strip()
            except (OSError, UnicodeDecodeError) as error:
                why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
                # The cause is kept away: a decoding error holds the bytes.
                raise SecretUnavailable(f"the secret file {path} cannot be read: {why}") from None

        return cls(read, f"file {path}")

    @classmethod
    def keyring(cls, service: str, username: str) -> Secret:
        """From the keyring of the operating system; needs the package `keyring`."""

        def read() -> str:
            try:
                get = cast("Callable[[str, str], str | None]", import_module("keyring").get_password)
            except ImportError:
                raise SecretUnavailable("the package keyring is not installed", hint="pip install keyring") from None
            value = get(service, username)
            if not value:
                hint = f"keyring set {service} {username}"
                raise SecretUnavailable(f"the keyring holds nothing for {username} of {service}", hint=hint)
            return value

        return cls(read, f"keyring {service}/{username}")

    @classmethod
    def of(cls, function: Callable[[], str] | Callable[[], Awaitable[str]]) -> Secret:
        """From a function, plain (called in a thread) or async, called at each use."""
        return cls(function, f"function {getattr(function, '__name__', type(function).__name__)}")

    @classmethod
    def literal(cls, value: str) -> Secret:
        """From the program itself. Known to `redact` at once."""
        remember(value)
        return cls(lambda: value, "literal")

    @property
    def mask(self) -> str:
        """What is shown in its place to people who decide on a call: a variable is named, a path of the host is not."""
        return MASK if self._variable is None else f"{MASK[:-1]} of env {self._variable}]"

    def require(self) -> None:
        """Raises SecretUnavailable where a variable is not set; other places are not looked at."""
        if self._variable is not None:
            self._source()

    async def reveal(self) -> str:
        """The value, which `redact` knows from now on. Raises SecretUnavailable, and nothing that holds the value."""
        try:
            if inspect.iscoroutinefunction(self._source):
                value = await self._source()
            else:
                value = await _threads.run(self._source, "isolith-secret")
                if inspect.isawaitable(value):
                    value = await value
        except SecretUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a keyring or a function raises; its text may hold the value
            raise SecretUnavailable(f"the secret ({self._label}) cannot be read: {type(error).__name__}") from None
        if not isinstance(value, str) or not value or len(value) > LONGEST_SECRET:
            raise SecretUnavailable(f"the secret ({self._label}) is empty, longer than 64 KiB or not text")
        remember(value)
        if not value.isprintable():
            raise SecretUnavailable(f"the secret ({self._label}) holds a line break or another control character")
        return value

    def __repr__(self) -> str:
        return f"Secret({self._label})"

    def __str__(self) -> str:
        return MASK

    def __format__(self, spec: str) -> str:
        return MASK

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is not pickled: it is read again where it is needed")


def remember(value: str) -> None:
    """Make `redact` know a text that must be shown nowhere, and how it looks in URLs, JSON and base64."""
    if len(value) < SHORTEST_IN_TEXT:
        return
    for spelling in _spellings(value):
        _known.pop(spelling, None)
        _known[spelling] = None
    while len(_known) > MOST_KNOWN:
        del _known[next(iter(_known))]


def _spellings(value: str) -> Iterator[str]:
    """As it is, in URLs, in JSON, in a repr, and in base64."""
    yield value
    once = {quote(value, safe=""), quote(value), quote_plus(value)}
    # Twice: a URL within a URL.
    for encoded in once | {quote(each, safe="") for each in once}:
        yield encoded
        yield re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), encoded)
    yield from (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1])
    yield from (repr(value)[1:-1], repr(value.encode())[2:-1])
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(value.encode()).decode().rstrip("=")


def redact(text: str) -> str:
    """`text` with every known secret masked."""
    for spelling in sorted(_known.copy(), key=len, reverse=True):
        text = text.replace(spelling, MASK)
    return text


def redact_beginning(text: str, most: int) -> str:
    """The first characters of `text`, masked before it is cut: the beginning of a secret is known to nobody."""
    return redact(text[: most + LONGEST_SECRET])[:most]


def redact_bytes(content: bytes, values: Iterable[str], *, cut: bool = False) -> bytes:
    """What a server sent, with the secrets that it was sent masked; `cut`: its end may be the beginning of one.

    Not with every known one: each costs a pass over megabytes, and a server repeats what it was told.
    """
    for secret in _in_content(values):
        content = content.replace(secret, MASK.encode())
        if cut:
            content = _without_tail(content, secret)
    return content


def redact_file(file: ByteFile, values: Iterable[str], *, cut: bool = False) -> ByteFile:
    """The same of what is in a file, in another; a piece at a time. Blocks: not for an event loop. Raises CallError."""
    secrets = _in_content(values)
    most = max((len(secret) for secret in secrets), default=1) - 1
    cleared, left, offset = ByteFile(), b"", 0
    try:
        while piece := file.read(offset, PIECE):
            offset += len(piece)
            left += piece
            # What may be the beginning of a secret waits for what follows it.
            done, left = _masked(left, secrets, max(0, len(left) - most))
            cleared.append(done)
        done, left = _masked(left, secrets, len(left))
        for secret in secrets if cut else ():
            done = _without_tail(done, secret)
        cleared.append(done)
    except OSError as error:
        raise CallError("invalid_result", f"no file takes the answer: {error.strerror}") from None
    return cleared


def _masked(content: bytes, secrets: list[bytes], ready: int) -> tuple[bytes, bytes]:
    """What begins before `ready` with each secret masked, the longest where several begin, and what is left."""
    done, at = b"", 0
    if any(secret in content for secret in secrets):
        for found in re.finditer(b"|".join(re.escape(secret) for secret in secrets), content):
            if found.start() >= ready:
                break
            done += content[at : found.start()] + MASK.encode()
            at = found.end()
    end = max(at, ready)
    return done + content[at:end], content[end:]


def _in_content(values: Iterable[str]) -> list[bytes]:
    """What is masked in content, the longest first."""
    spellings = {spelling for value in values if len(value) >= SHORTEST_IN_CONTENT for spelling in _spellings(value)}
    return [spelling.encode() for spelling in sorted(spellings, key=len, reverse=True)]


def _without_tail(content: bytes, secret: bytes) -> bytes:
    """`content` without the beginning of `secret` at its very end."""
    for length in range(min(len(secret) - 1, len(content)), SHORTEST_IN_TEXT - 1, -1):
        if content.endswith(secret[:length]):
            return content[:-length] + MASK.encode()
    return content


class RedactingFilter(logging.Filter):
    """For the loggers of libraries that write down what they send."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Mask the message; nothing is dropped."""
        record.msg, record.args = redact(record.getMessage()), None
        return True

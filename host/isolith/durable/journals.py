"""Which journal a host uses: one that it was given, or a file of its own that lasts as long as it does."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, cast

from isolith.folders import data_folder
from isolith_bindings.secrets import redact

if TYPE_CHECKING:
    from isolith.journal.journal import Journal


async def open_journal(url: str) -> Journal:
    """Open a journal that takes no secret which is known in this process. Raises JournalError, UsageError."""
    # What keeps no journal does not wait for the database toolkit to load.
    from isolith.journal import Journal, Settings  # noqa: PLC0415

    return await Journal.open(url, Settings(redact=redact))


def url_of(journal: str | Path) -> str:
    """A file as a URL; a URL as it is."""
    text = str(journal)
    return text if "://" in text else f"sqlite:///{text}"


def folder_of(journal: str) -> Path | None:
    """The folder of a journal that is a file; None of one that is elsewhere."""
    file = file_of(journal)
    return None if file is None else file.parent


def file_of(journal: str) -> Path | None:
    """The file that a journal is; None of one that is elsewhere."""
    url = url_of(journal)
    return Path(url.removeprefix("sqlite:///")) if journal and url.startswith("sqlite:///") else None


class Journals:
    """One journal, opened when it is first needed."""

    def __init__(self, given: Journal | str | Path | None) -> None:
        self.given = given is not None
        self._given = given
        self._journal = None if given is None or isinstance(given, str | Path) else given
        self._lent = self._journal is not None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._lock = asyncio.Lock()

    async def open(self) -> Journal:
        """The journal. Raises JournalError, UsageError."""
        async with self._lock:
            if self._journal is None:
                self._journal = await open_journal(self._url())
            return self._journal

    @property
    def folder(self) -> Path:
        """Where keys are kept: beside the journal's file, or in this user's own folder."""
        if self._given is None and self._folder is not None:
            return Path(self._folder.name)
        text = "" if self._given is None or self._lent else str(self._given)
        return folder_of(text) or data_folder()

    async def close(self) -> None:
        """Close what was opened here; a journal that was given open stays so. Idempotent."""
        if self._journal is not None and not self._lent:
            await self._journal.close()
            self._journal = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _url(self) -> str:
        if self._given is None:
            self._folder = tempfile.TemporaryDirectory(prefix="isolith-journal-")
            return f"sqlite:///{Path(self._folder.name) / 'journal.db'}"
        return url_of(cast("str | Path", self._given))

"""A file and the record beside it that says what the file has to be: trusted only while both agree."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import structlog
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from isolith_runtime.image.private import open_private, write_private

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_log = structlog.get_logger("isolith.image")


class Record(BaseModel):
    """What was written, as JSON beside it."""

    model_config = ConfigDict(frozen=True)

    sha256: str
    size: int
    created: str
    """ISO 8601, UTC."""
    meta: dict[str, JsonValue]


@dataclass(frozen=True)
class SealedFile:
    """The two paths. The record is written last, so a file without one was not finished."""

    data: Path
    record: Path

    def read_record(self) -> Record | None:
        """Return the record, or nothing if there is none to be read."""
        try:
            with open_private(self.record) as file:
                return Record.model_validate_json(file.read())
        except FileNotFoundError:
            return None
        except ValidationError:
            _log.warning("the record of a cached file is damaged, so the file is made again", path=str(self.record))
            return None

    def verify(self) -> Record | None:
        """Return the record if the file is, byte for byte, what it says; about 0.04 s for 50 MB."""
        record = self.read_record()
        if record is None:
            return None
        try:
            with open_private(self.data) as file:
                seen = (hashlib.file_digest(file, "sha256").hexdigest(), file.tell())
        except FileNotFoundError:
            seen = ("", 0)
        if seen != (record.sha256, record.size):
            _log.warning("a cached file is missing, cut or changed, so it is made again", path=str(self.data))
            return None
        return record

    def write(self, content: bytes, meta: Mapping[str, object], workdir: Path) -> Record:
        """Put both in place of whatever was there; killed half-way, what is there does not verify."""
        record = Record.model_validate(
            {
                "sha256": hashlib.sha256(content).hexdigest(),
                "size": len(content),
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                "meta": json.loads(json.dumps(dict(meta))),  # as it will be read back
            }
        )
        write_private(self.data, content, workdir)
        write_private(self.record, record.model_dump_json(indent=1).encode(), workdir)
        return record

    def touch(self) -> None:
        """Note that it was used, for what is kept longest; a read-only store does not mind."""
        with suppress(OSError):
            os.utime(self.record)

    def last_used(self) -> float:
        """Seconds since the epoch; 0 if it was never finished."""
        try:
            return self.record.stat().st_mtime
        except FileNotFoundError:
            return 0.0

    def remove(self) -> None:
        """Remove both, and their folder if that leaves it empty."""
        self.record.unlink(missing_ok=True)
        self.data.unlink(missing_ok=True)
        with suppress(OSError):
            self.data.parent.rmdir()

"""The public JSON-Schema-Test-Suite, from jsonschema's own source distribution, kept in the user's cache folder."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import platformdirs
import pytest
from filelock import FileLock

RELEASE = "4.26.0"
DRAFTS = ("draft3", "draft4", "draft6", "draft7", "draft2019-09", "draft2020-12")
SCHEMAS = {
    "draft3": "http://json-schema.org/draft-03/schema",
    "draft4": "http://json-schema.org/draft-04/schema",
    "draft6": "http://json-schema.org/draft-06/schema",
    "draft7": "http://json-schema.org/draft-07/schema",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}


@dataclass(frozen=True)
class Example:
    """One value of the suite with its schema, and whether it fits."""

    name: str
    draft: str
    schema: dict[str, object] | bool
    value: object
    valid: bool


def examples(draft: str, *, optional: bool = False) -> Iterator[Example]:
    """All examples of a draft; the optional ones only of what is about patterns and large numbers."""
    folder = obtained() / draft
    files = sorted(folder.glob("*.json"))
    if optional:
        files = [folder / "optional" / name for name in ("ecmascript-regex.json", "bignum.json", "non-bmp-regex.json")]
        files = [file for file in files if file.exists()]
    for file in files:
        for group in json.loads(file.read_text()):
            for test in group["tests"]:
                name = f"{file.stem}: {group['description']}: {test['description']}"
                yield Example(name, draft, _with_draft(group["schema"], draft), test["data"], test["valid"])


def obtained() -> Path:
    """The folder of the tests. Skips the test where it is not there and cannot be downloaded."""
    kept = Path(platformdirs.user_cache_dir("isolith-tests")) / f"json-schema-test-suite-{RELEASE}"
    kept.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(kept.with_suffix(".lock")):
        if not kept.exists():
            _download(kept)
    return kept


def _download(kept: Path) -> None:
    with tempfile.TemporaryDirectory(dir=kept.parent) as work:
        command = ["download", "-q", "--no-binary", "jsonschema", "--no-deps", f"jsonschema=={RELEASE}", "-d", work]
        done = subprocess.run([sys.executable, "-m", "pip", *command], capture_output=True, text=True, check=False)
        archives = list(Path(work).glob("*.tar.gz"))
        if not archives:
            pytest.skip(f"the JSON-Schema-Test-Suite cannot be downloaded: {done.stderr[-200:]}")
        with tarfile.open(archives[0]) as archive:
            archive.extractall(work, filter="data")
        next(Path(work).glob("jsonschema-*/json/tests")).rename(kept)


def _with_draft(schema: dict[str, object] | bool, draft: str) -> dict[str, object] | bool:
    return schema if isinstance(schema, bool) else {"$schema": SCHEMAS[draft], **schema}

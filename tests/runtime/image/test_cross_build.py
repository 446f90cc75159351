from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from isolith_runtime.errors import DistributionError
from isolith_runtime.image import cross_build

if TYPE_CHECKING:
    from pathlib import Path

# The command line of pyodide-build 0.39, as far as it is used.
FAKE = """
import json, pathlib, sys
group, verb, *rest = sys.argv[1:]
assert group == "xbuildenv"
if verb == "search":
    assert rest == ["--all", "--json"]
    {search}
else:
    version, force, path, target = rest
    assert (verb, force, path) == ("install", "--force", "--path")
    dist = pathlib.Path(target, version, "xbuildenv", "pyodide-root", "dist")
    dist.mkdir(parents=True)
    (dist / "one.wasm").write_bytes(b"one")
"""
LISTS = """print(json.dumps({"environments": [{"version": "1.2.3"}]}))"""


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    return folder


def install_fake(packages: Path, search: str = LISTS) -> None:
    (packages / "pyodide_build.py").touch()
    (packages / "pyodide_cli.py").write_text(textwrap.dedent(FAKE).format(search=search))


def test_reads_the_named_files(packages: Path, tmp_path: Path) -> None:
    install_fake(packages)
    assert cross_build.installed()
    assert cross_build.fetch("1.2.3", ["one.wasm"], tmp_path) == {"one.wasm": b"one"}


def test_an_environment_that_lacks_a_file(packages: Path, tmp_path: Path) -> None:
    install_fake(packages)
    with pytest.raises(DistributionError, match=r"cross-build environment of Pyodide 1\.2\.3 lacks a file: .*two\.zip"):
        cross_build.fetch("1.2.3", ["one.wasm", "two.zip"], tmp_path)


@pytest.mark.parametrize(
    ("search", "message"),
    [
        ("raise OSError('Failed to resolve')", r"--json` failed with exit code 1: OSError: Failed to resolve$"),
        ("print('{}')", r"in a form that is not understood$"),
        ("print('[]')", r"in a form that is not understood$"),
        ("print('<html>')", r"in a form that is not understood$"),
        ("""print('{"environments": []}')""", r"knows no release 1\.2\.3$"),
    ],
)
def test_releases_out_of_reach_end_it_before_anything_is_installed(
    packages: Path, tmp_path: Path, search: str, message: str
) -> None:
    install_fake(packages, search)
    with pytest.raises(DistributionError, match=message):
        cross_build.fetch("1.2.3", ["one.wasm"], tmp_path)
    assert not (tmp_path / "xbuildenv").exists()

"""What is put into the image: the guest's own modules, what is imported ahead, the time zones."""

from __future__ import annotations

import importlib.resources
import io
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import isolith_runtime

if TYPE_CHECKING:
    from collections.abc import Mapping

IMPORTED_AHEAD = tuple(
    """
    abc argparse array ast asyncio base64 binascii bisect calendar cmath codecs collections collections.abc colorsys
    contextlib contextvars copy csv dataclasses datetime decimal difflib enum fnmatch fractions functools gc glob
    graphlib hashlib heapq hmac html html.parser importlib inspect io ipaddress itertools json keyword linecache locale
    logging marshal math numbers operator os os.path pathlib pickle pprint queue random re reprlib secrets shlex signal
    socket stat statistics string struct subprocess sys tempfile textwrap threading time timeit traceback types typing
    unicodedata urllib.parse uuid warnings weakref zlib zoneinfo
    """.split()  # noqa: SIM905 - a list of words
)
"""Modules that are in the snapshot already: importing them costs a script nothing."""

_GUEST_PACKAGE = "isolith_runtime/guest"


def guest_sources() -> dict[str, bytes]:
    """The guest package's modules by their path in the guest; its parent package is empty there."""
    folder = Path(isolith_runtime.__file__).parent / "guest"
    sources = {f"{_GUEST_PACKAGE}/{path.name}": path.read_bytes() for path in sorted(folder.glob("*.py"))}
    return {"isolith_runtime/__init__.py": b"", **sources}


def time_zones() -> bytes:
    """A zip of the IANA time zones of the `tzdata` distribution."""
    root = importlib.resources.files("tzdata")
    names = (root / "zones").read_text().split()
    return archive({name: (root / "zoneinfo" / name).read_bytes() for name in names})


def archive(files: Mapping[str, bytes]) -> bytes:
    """A zip whose bytes depend on its content only."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            target.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def merge(zipped: bytes, files: Mapping[str, bytes]) -> bytes:
    """A zip with files added."""
    with zipfile.ZipFile(io.BytesIO(zipped)) as source:
        members = {name: source.read(name) for name in source.namelist() if not name.endswith("/")}
    return archive({**members, **files})

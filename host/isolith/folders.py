"""Where this user's state is kept: `$ISOLITH_HOME` for all of it, or else the folders of the system for its kind."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_dir, user_data_dir


def cache_folder(name: str) -> Path:
    """A folder for what can be made again. Not made here."""
    return _home(user_cache_dir("isolith", appauthor=False)) / name


def data_folder() -> Path:
    """The folder for what cannot. Not made here."""
    return _home(user_data_dir("isolith", appauthor=False))


def _home(otherwise: str) -> Path:
    return Path(os.environ.get("ISOLITH_HOME") or otherwise).expanduser()

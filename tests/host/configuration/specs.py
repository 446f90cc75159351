"""What tests connect: files that they write, the connectors in them, and what is said of those that give none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isolith.configuration.connect import connect, connect_all
from isolith.errors import ConnectError

if TYPE_CHECKING:
    from pathlib import Path

CLASSES = """
from __future__ import annotations
from dataclasses import dataclass
from isolith_bindings.functions import connector

@dataclass
class Contact:
    name: str

@connector("crm")
class Crm:
    def get(self, name: str) -> Contact:
        return Contact(name)

@connector
class Billing:
    def total(self) -> int:
        return 3

def not_a_connector() -> int:
    return 1
"""
FUNCTIONS = """
import json
from json import dumps

def add(a: int, b: int) -> int:
    return a + b

def _helper() -> int:
    return 1
"""


def write(path: Path, text: str | bytes) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def names(spec: str) -> list[str]:
    return [connector.name for connector in connect(spec)]


def failure(*specs: str) -> str:
    with pytest.raises(ConnectError) as caught:
        connect_all(specs)
    return str(caught.value)

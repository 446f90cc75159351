"""The public names: all there, and none that costs a start more than it must."""

from __future__ import annotations

import subprocess
import sys

import pytest

import isolith


def test_every_public_name_is_there() -> None:
    assert len(isolith.__all__) == len(set(isolith.__all__))
    for name in isolith.__all__:
        assert getattr(isolith, name) is not None


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'isolith' has no attribute 'McpServers'"):
        _ = isolith.McpServers  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]


def test_what_can_be_named_is_listed() -> None:
    assert set(isolith.__all__) <= set(dir(isolith))


def test_what_takes_its_time_is_loaded_when_it_is_named() -> None:
    code = (
        "import sys, isolith; assert not {'mcp', 'httpx', 'pydantic', 'wasmtime'} & set(sys.modules); "
        "isolith.CodeMode; assert 'wasmtime' in sys.modules and 'mcp' not in sys.modules; "
        "isolith.McpServer; assert 'mcp' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

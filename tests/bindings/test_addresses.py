"""What to write in place of an address that is none."""

from __future__ import annotations

import pytest

from isolith_bindings.addresses import without_scheme
from isolith_bindings.errors import BindError
from isolith_bindings.openapi import OpenApi


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("127.0.0.1:8861", "`http://127.0.0.1:8861`"),
        ("localhost:8000/v1", "`http://localhost:8000/v1`"),
        ("10.1.2.3", "`http://10.1.2.3`"),
        ("[::1]:8000", "`http://[::1]:8000`"),
        ("api.example.com", "`https://api.example.com`"),
        ("api.example.com:8443/v1", "`https://api.example.com:8443/v1`"),
        ("api.example.com/v1?key=hush", "the whole address, which begins with `https://` or `http://`"),
        ("me:hush@api.example.com", "the whole address, which begins with `https://` or `http://`"),
        ("/v1", "the whole address, which begins with `https://` or `http://`"),
        ("ftp://api.example.com", "the whole address, which begins with `https://` or `http://`"),
        ("", "the whole address, which begins with `https://` or `http://`"),
        ("HTTPS://api.example.com", None),
        ("http://127.0.0.1:8861", None),
    ],
)
def test_what_is_written_in_its_place(text: str, mend: str | None) -> None:
    assert without_scheme(text) == mend


def test_a_connector_of_a_document_says_what_to_write() -> None:
    """It spoke of a request, which there is none of yet."""
    with pytest.raises(BindError, match=r"^`127\.0\.0\.1:8861`: write `http://127\.0\.0\.1:8861`$"):
        OpenApi({"openapi": "3.1.0"}, server="127.0.0.1:8861")

"""Which flags of an authorization server go together, decided before anything is started."""

from __future__ import annotations

import pytest

from isolith.command_line.oauth_options import SECRET, OAuthServer, oauth_server
from isolith.errors import UsageError

ISSUER, HERE = "https://login.example.com/tenant", "https://mcp.example.com/mcp"


def test_what_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert oauth_server(None, None, None, auth=True, public=True) is None
    assert oauth_server(None, None, None, auth=False, public=False) is None
    assert oauth_server(ISSUER, None, None, auth=True, public=False) == OAuthServer(ISSUER)
    assert oauth_server(ISSUER, HERE, None, auth=True, public=True) == OAuthServer(ISSUER, HERE)
    local = oauth_server("http://127.0.0.1:9", "http://localhost:8000/mcp", None, auth=True, public=False)
    assert local == OAuthServer("http://127.0.0.1:9", "http://localhost:8000/mcp")
    monkeypatch.setenv(SECRET, "x")
    assert oauth_server(ISSUER, HERE, "me", auth=True, public=True) == OAuthServer(ISSUER, HERE, "me")


@pytest.mark.parametrize(
    ("issuer", "resource", "client", "said"),
    [
        ("http://login.example.com", None, None, "speaks no TLS"),
        ("login.example.com", None, None, "no URL"),
        (f"{ISSUER}?a=1", None, None, "no query"),
        (ISSUER, "http://mcp.example.com/mcp", None, "takes https://NAME/mcp"),
        (ISSUER, f"{HERE}#part", None, "takes https://NAME/mcp"),
        (ISSUER, "https://user@mcp.example.com/mcp", None, "takes https://NAME/mcp"),
        (ISSUER, None, "me", SECRET),
        (None, HERE, None, "`--oauth-resource` is about `--oauth-issuer`"),
        (None, None, "me", "`--oauth-client` is about `--oauth-issuer`"),
    ],
)
def test_wrong_use(
    issuer: str | None, resource: str | None, client: str | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(SECRET, raising=False)
    with pytest.raises(UsageError, match=said):
        oauth_server(issuer, resource, client, auth=True, public=False)


def test_what_contradicts_the_rest() -> None:
    with pytest.raises(UsageError, match="keep one"):
        oauth_server(ISSUER, None, None, auth=False, public=False)
    with pytest.raises(UsageError, match="--oauth-resource https://NAME/mcp"):
        oauth_server(ISSUER, None, None, auth=True, public=True)

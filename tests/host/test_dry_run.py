"""`isolith connectors request`: what would be sent, under every way to identify oneself, and no secret in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trustme
from typer.testing import CliRunner, Result

from isolith.command_line import cli
from isolith.configuration.documents import parse_json

CANARY = "canary-5417-secret"
SCHEMES: dict[str, object] = {
    "header": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "query": {"type": "apiKey", "in": "query", "name": "api key"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "sid"},
    "basic": {"type": "http", "scheme": "basic"},
    "bearer": {"type": "http", "scheme": "bearer"},
    "digest": {"type": "http", "scheme": "digest"},
    "oauth": {
        "type": "oauth2",
        "flows": {"clientCredentials": {"tokenUrl": "https://login.test/token", "scopes": {}}},
    },
    "connect": {"type": "openIdConnect", "openIdConnectUrl": "https://login.test/.well-known/openid-configuration"},
    "tls": {"type": "mutualTLS"},
}
KEPT = '{ env = "SECRET_OF_THE_TEST" }'
CLIENT = f'{{ client_id = "me", client_secret = {KEPT}, token_url = "https://login.test/token" }}'


def isolith(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, arguments)


def project(folder: Path, auth: str = "", security: object = None) -> str:
    """A document with a read and a write, and the configuration that connects it."""
    item = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
    body = {
        "content": {
            "application/json": {
                "schema": {"type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": False}
            }
        }
    }
    files = {
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {"file": {"type": "string", "format": "binary"}},
                    "required": ["file"],
                }
            }
        }
    }
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": "https://api.test/v1"}],
        "paths": {
            "/items/{id}": {
                "parameters": [item],
                "get": {"operationId": "read_item", "responses": {}},
                "put": {"operationId": "write_item", "requestBody": body, "responses": {}},
                "post": {"operationId": "add_file", "requestBody": files, "responses": {}},
            }
        },
        "components": {"securitySchemes": SCHEMES},
        **({} if security is None else {"security": security}),
    }  # fmt: skip
    (folder / "shop.json").write_text(json.dumps(document))
    path = folder / "isolith.toml"
    path.write_text(f'[connectors.shop]\nopenapi = "shop.json"\n{auth}\n')
    return str(path)


@pytest.mark.parametrize(
    ("scheme", "auth", "line"),
    [
        ("header", f"auth = {KEPT}", "X-Key: [secret of env SECRET_OF_THE_TEST]"),
        ("query", f"auth = {KEPT}", "GET https://api.test/v1/items/3?api%20key=[secret of env SECRET_OF_THE_TEST]"),
        ("cookie", f"auth = {KEPT}", "Cookie: sid=[secret of env SECRET_OF_THE_TEST]"),
        (
            "basic",
            f'auth = {{ username = "me", password = {KEPT} }}',
            "Authorization: Basic [secret of env SECRET_OF_THE_TEST]",
        ),
        ("bearer", f"auth = {KEPT}", "Authorization: Bearer [secret of env SECRET_OF_THE_TEST]"),
        (
            "digest",
            f'auth = {{ header = "Authorization", value = {KEPT} }}',
            "Authorization: [secret of env SECRET_OF_THE_TEST]",
        ),
        (
            "header",
            f'auth = {{ query = "key", value = {KEPT} }}',
            "GET https://api.test/v1/items/3?key=[secret of env SECRET_OF_THE_TEST]",
        ),
        ("header", f'auth = {{ cookie = "c", value = {KEPT} }}', "Cookie: c=[secret of env SECRET_OF_THE_TEST]"),
        ("oauth", f"auth = {CLIENT}", "Authorization: Bearer [secret]"),
        ("oauth", f"auth = {KEPT}", "Authorization: Bearer [secret of env SECRET_OF_THE_TEST]"),
        ("connect", f"auth = {CLIENT}", "Authorization: Bearer [secret]"),
        ("tls", 'auth = { certificate = "mine.pem" }', "# with the certificate of the client"),
        (
            "bearer",
            f"auth_by_scheme = {{ bearer = {KEPT} }}",
            "Authorization: Bearer [secret of env SECRET_OF_THE_TEST]",
        ),
        (None, f"auth = {KEPT}", "Authorization: Bearer [secret of env SECRET_OF_THE_TEST]"),
    ],
)
def test_every_scheme_is_shown_masked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str | None, auth: str, line: str
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_TEST", CANARY)
    trustme.CA().issue_cert("me.test").private_key_and_cert_chain_pem.write_to_path(tmp_path / "mine.pem")
    config = project(tmp_path, auth, scheme and [{scheme: []}])
    found = isolith("connectors", "request", "shop.read_item", "--config", config, "--arguments", '{"id": 3}')
    assert found.exit_code == 0, found.output
    assert line in found.stdout.splitlines()
    assert "GET https://api.test/v1/items/3" in found.stdout
    assert CANARY not in found.output


def test_a_secret_that_is_read_elsewhere_is_shown_without_its_place(tmp_path: Path) -> None:
    config = project(tmp_path, 'auth = { file = "token.txt" }', [{"header": []}])
    found = isolith("connectors", "request", "shop.read_item", "--config", config, "--arguments", '{"id": 3}')
    assert "X-Key: [secret]" in found.stdout.splitlines()


@pytest.mark.parametrize(
    ("auth", "told"),
    [
        (f"auth = {KEPT}", True),
        (f"auth_by_scheme = {{ bearer = {KEPT}, header = {KEPT} }}", False),
        ('auth = { header = "X-Key", value = "${SECRET_OF_THE_TEST}" }', False),
    ],
)
def test_one_secret_in_two_places_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, auth: str, told: bool
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_TEST", CANARY)
    config = project(tmp_path, auth, [{"bearer": [], "header": []}])
    found = isolith("connectors", "status", "--config", config)
    line = (
        "problem: `auth` is one secret, and is sent as the bearer token (scheme `bearer`) and as the header X-Key "
        "(scheme `header`): `auth_by_scheme` gives each its own"
    )
    assert (line in found.stdout, found.exit_code) == (told, 0)


@pytest.mark.parametrize(
    "security", [[{"bearer": []}, {"header": []}], [{"bearer": []}], [{"bearer": [], "oauth": []}]]
)
def test_one_secret_in_one_place_is_nothing_to_tell(tmp_path: Path, security: list[object]) -> None:
    config = project(tmp_path, f"auth = {KEPT}", security)
    assert "auth_by_scheme" not in isolith("connectors", "status", "--config", config).stdout


def test_a_document_without_an_address_is_not_well(tmp_path: Path) -> None:
    config = project(tmp_path)
    document = json.loads((tmp_path / "shop.json").read_text())
    del document["servers"]
    (tmp_path / "shop.json").write_text(json.dumps(document))
    found = isolith("connectors", "status", "--config", config)
    assert found.exit_code == 1
    assert found.stdout.startswith("shop: no address: the document does not say on which host its API is")
    assert '`server = "https://..."`' in found.stdout
    Path(config).write_text(f'{Path(config).read_text()}server = "https://api.test"\n')
    assert isolith("connectors", "status", "--config", config).exit_code == 0


def test_a_write_is_shown_with_its_body(tmp_path: Path) -> None:
    config = project(tmp_path)
    given = json.dumps({"id": 3, "name": "tea"})
    found = isolith("connectors", "request", "shop.write_item", "--config", config, "--arguments", given)
    assert found.stdout == (
        "PUT https://api.test/v1/items/3\nAccept: */*\nContent-Type: application/json\n\n"
        '{"name":"tea"}\n'
    )  # fmt: skip
    shown = isolith("connectors", "request", "shop.write_item", "--config", config, "--arguments", given, "--json")
    document = parse_json(shown.stdout, "stdout")
    assert isinstance(document, dict)
    assert (document["call"], document["request"]) == ("shop.write_item", found.stdout.rstrip("\n"))


@pytest.mark.parametrize(
    ("target", "arguments", "told"),
    [
        ("shop.read_item", "{}", "`id` (path parameter `id` of GET /items/{id}, #/paths/~1items~1{id}/parameters/0)"),
        ("shop.read_item", '{"id": "x"}', "expected integer, was given"),
        ("shop.read_itme", "{}", "did you mean `shop.read_item`?"),
        ("shop.read_item", "[]", "`--arguments` is one JSON object"),
        ("shop", "{}", "`shop` is no connector.method"),
    ],
)
def test_what_would_not_be_sent_says_why(tmp_path: Path, target: str, arguments: str, told: str) -> None:
    found = isolith("connectors", "request", target, "--config", project(tmp_path), "--arguments", arguments)
    assert found.exit_code == 2
    assert told in found.stderr


def test_a_credential_that_is_missing_is_said(tmp_path: Path) -> None:
    config = project(tmp_path, "", [{"tls": []}])
    found = isolith("connectors", "request", "shop.read_item", "--config", config, "--arguments", '{"id": 3}')
    assert found.exit_code == 2
    assert "it needs a credential that this connector does not have: (tls: a ClientCertificate)" in found.stderr


def test_what_is_no_document_sends_no_requests(tmp_path: Path) -> None:
    (tmp_path / "crm.py").write_text("def find(name: str) -> str:\n    return name\n")
    found = isolith("connectors", "request", "crm.find", "--connect", str(tmp_path / "crm.py"))
    assert found.exit_code == 2
    assert "`crm` comes from no OpenAPI document" in found.stderr

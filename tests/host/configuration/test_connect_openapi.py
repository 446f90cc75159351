"""OpenAPI documents as they are connected: by a path alone, or by a configuration with what the API asks for."""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
import trustme

from isolith.configuration.config import read_config
from isolith.configuration.connect import anchored, connect, connect_config
from isolith.configuration.connect_mcp import Person
from isolith.errors import ConnectError, UsageError
from isolith_bindings.availability import why_absent
from isolith_bindings.connector import offered
from isolith_bindings.errors import CallError
from isolith_bindings.mcp.connector import McpServer
from isolith_bindings.openapi import OpenApi
from isolith_bindings.policy import Policy, govern
from isolith_bindings.testing import a_context

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from isolith_bindings.connector import Connector

SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "basic": {"type": "http", "scheme": "basic"},
    "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "tls": {"type": "mutualTLS"},
}


class Echo(BaseHTTPRequestHandler):
    """Answers with the headers and the path of the request; a token endpoint for clients."""

    seen: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        body = json.dumps({"path": self.path, "headers": {name.lower(): value for name, value in self.headers.items()}})
        self._answer(body)

    def do_POST(self) -> None:
        form = self.rfile.read(int(self.headers["content-length"])).decode()
        self.seen.append(form)
        self._answer(json.dumps({"access_token": "token-of-client", "token_type": "bearer", "expires_in": 600}))

    def _answer(self, body: str) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the interface
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def certain_of_clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that speaks to nobody without a certificate; `mine.pem` and `mine.key` are one that it knows."""
    authority, people = trustme.CA(), trustme.CA()
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.verify_mode = ssl.CERT_REQUIRED
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    people.configure_trust(tls)
    mine = people.issue_cert("me.test")
    mine.cert_chain_pems[0].write_to_path(tmp_path / "mine.pem")
    mine.private_key_pem.write_to_path(tmp_path / "mine.key")
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"https://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOLITH_HOME", str(tmp_path / "home"))


def document(folder: Path, address: str, *schemes: str, name: str = "shop.json") -> Path:
    path = folder / name
    told = {
        "openapi": "3.1.0",
        "info": {"title": "Api", "version": "1"},
        "servers": [{"url": address}],
        "paths": {
            "/me": {
                "get": {
                    "operationId": "me",
                    "responses": {"200": {"description": "", "content": {"application/json": {}}}},
                }
            }
        },
        "components": {"securitySchemes": {name: SCHEMES[name] for name in schemes}},
        "security": [{name: []} for name in schemes],
    }
    path.write_text(json.dumps(told))
    return path


def configured(folder: Path, text: str) -> Connector:
    path = folder / "isolith.toml"
    path.write_text(f'[connectors.api]\nopenapi = "shop.json"\n{text}')
    [connector] = connect_config(read_config(path))
    return connector


def me(connector: Connector) -> dict[str, Any]:
    async def once() -> object:
        await connector.start()
        try:
            return await connector.call(connector.methods["me"], {}, a_context())
        finally:
            await connector.aclose()

    answer = asyncio.run(once())
    assert isinstance(answer, dict)
    return answer


@pytest.mark.parametrize("name", ["shop.json", "shop.yaml", "shop.yml"])
def test_a_document_by_its_path(tmp_path: Path, name: str) -> None:
    [connector] = connect(str(document(tmp_path, "https://api.test", name=name)))
    assert isinstance(connector, OpenApi)
    assert connector.name == "shop"


def test_a_document_by_its_path_under_another_name(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = document(tmp_path, address, "bearer", name="openapi.json")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ISOLITH_TOKEN_MY_SHOP", "token-6671")
    [connector] = connect("my-shop=openapi.json")
    assert isinstance(connector, OpenApi)
    assert connector.name == "my_shop"
    # The name is also that of the variable; a loopback address is opened by no document.
    with pytest.raises(CallError, match="leads to a loopback address"):
        me(connector)
    assert anchored("my-shop=openapi.json") == f"my-shop={path}"
    assert anchored("openapi.json") == str(path)
    assert anchored("docs=uvx openapi.json") == "docs=uvx openapi.json"
    (tmp_path / "mcp.json").write_text('{"mcpServers": {"a": {"command": "x"}}}')
    with pytest.raises(ConnectError, match=r"gives its servers their names itself: leave out `b=`"):
        connect("b=mcp.json")


def test_a_document_in_a_package_or_elsewhere() -> None:
    [connector] = connect("https://api.test/v1/openapi.json")
    assert isinstance(connector, OpenApi)


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("my-shop=https://api.test/v1/openapi.json", OpenApi),
        ("my-shop=http://127.0.0.1:8000/shop.yaml?version=2", OpenApi),
        ("my-shop=https://api.test/mcp", McpServer),
        ("my-shop=https://api.test/mcp?like=openapi.json", McpServer),
    ],
)
def test_a_name_goes_before_the_address_of_a_document_as_before_that_of_a_server(spec: str, kind: type) -> None:
    [connector] = connect(spec)
    assert (type(connector), connector.name) == (kind, "my_shop")


def test_a_large_document_is_not_read_twice(tmp_path: Path) -> None:
    path = document(tmp_path, "https://api.test")
    path.write_text(path.read_text() + " " * (5 << 20))
    assert isinstance(connect(str(path))[0], OpenApi)


def test_a_secret_from_the_environment_needs_no_configuration(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loopback address is not opened by a document; what matters is how far the call comes."""
    path = document(tmp_path, address, "bearer")
    with pytest.raises(CallError, match="bearer"):
        me(connect(str(path))[0])
    monkeypatch.setenv("ISOLITH_TOKEN_SHOP", "token-6671")
    [connector] = connect(str(path))
    with pytest.raises(CallError, match="leads to a loopback address"):
        me(connector)
    assert "6671" not in repr(connector)


def test_a_document_that_names_no_address_says_what_to_write(tmp_path: Path, address: str) -> None:
    """Such as FastAPI's own: the lines of the hint, as a configuration, are enough."""
    path = document(tmp_path, address)
    told = json.loads(path.read_text())
    del told["servers"]
    path.write_text(json.dumps(told))
    with pytest.raises(CallError, match="does not say on which host") as caught:
        me(connect(str(path))[0])
    written = re.findall(r"`([^`]+)`", str(caught.value.hint))[-3:]
    assert written == ["[connectors.shop]", 'openapi = "shop.json"', 'server = "https://..."']
    config = tmp_path / "isolith.toml"
    config.write_text("\n".join(written).replace("https://...", address))
    [connector] = connect(str(config))
    assert me(connector)["path"] == "/me"


@pytest.mark.parametrize(
    ("text", "scheme", "header"),
    [
        ('auth = "${TOKEN_OF_API}"', "bearer", "authorization"),
        ('auth = { env = "TOKEN_OF_API" }', "bearer", "authorization"),
        ('auth = { file = "token.txt" }', "bearer", "authorization"),
        ('auth_by_scheme = { bearer = "${TOKEN_OF_API}" }', "bearer", "authorization"),
        ('auth = { header = "X-Other", value = "${TOKEN_OF_API}" }', "key", "x-other"),
        ('auth = "${TOKEN_OF_API}"', "key", "x-key"),
        ('auth = { username = "me", password = { env = "TOKEN_OF_API" } }', "basic", "authorization"),
    ],
)
def test_what_the_api_asks_for(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch, text: str, scheme: str, header: str
) -> None:
    monkeypatch.setenv("TOKEN_OF_API", "token-9918")
    (tmp_path / "token.txt").write_text("token-9918\n")
    document(tmp_path, address, scheme)
    connector = configured(tmp_path, f'server = "{address}"\n{text}')
    assert "9918" not in repr(connector)
    assert "[secret]" in me(connector)["headers"][header]


def test_a_client_fetches_its_token(tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLIENT_SECRET", "secret-7718")
    document(tmp_path, address, "bearer")
    text = f'private = ["loopback"]\nauth = {{ client_id = "me", client_secret = "${{CLIENT_SECRET}}", token_url = "{address}/token", client_in = "body", fields = {{ audience = "a" }} }}'
    assert me(configured(tmp_path, text))["headers"]["authorization"] == "Bearer [secret]"
    assert "secret-7718" in Echo.seen[-1]
    assert "audience=a" in Echo.seen[-1]


def test_a_certificate_of_the_client(tmp_path: Path, certain_of_clients: str) -> None:
    """Its files are meant from the folder of the configuration."""
    document(tmp_path, certain_of_clients, "tls")
    server = f'server = "{certain_of_clients}"'
    with pytest.raises(CallError, match="tls: a ClientCertificate"):
        me(configured(tmp_path, server))
    assert (
        me(configured(tmp_path, f'{server}\nauth = {{ certificate = "mine.pem", key = "mine.key" }}'))["path"] == "/me"
    )
    with pytest.raises(CallError, match=r"none\.pem cannot be used: No such file"):
        me(configured(tmp_path, f'{server}\nauth = {{ certificate = "none.pem" }}'))


def test_where_the_api_is(tmp_path: Path, address: str) -> None:
    document(tmp_path, "https://elsewhere.test")
    assert me(configured(tmp_path, f'server = "{address}/v2"'))["path"] == "/v2/me"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('auth = { file = "a", env = "b" }', "a secret is in one of `env`, `file` and `keyring`"),
        (
            'auth = { header = "A", query = "b", value = "tok-3318" }',
            "a key goes into one of `header`, `query` and `cookie`",
        ),
        ('auth = "${NOT_THERE:}"', "`${NOT_THERE:}` is no reference"),
        ('auth = "tok-3318"\nauth_by_scheme = { a = "tok-3318" }', "`auth` and `auth_by_scheme` are given: keep one"),
        ('scope = "session"', "`scope` does not go with `openapi`"),
        ("trusted = true", "`trusted` does not go with `openapi`"),
        ('allow = ["a host"]', "'a host' is not a host"),
        ("auth = 3", "`connectors.api.auth` has to be a valid string"),
        ('auth = { username = "me", pasword = "tok-3318" }', "`connectors.api.auth.pasword` is not known here"),
        ('auth = { header = "A" }', "`connectors.api.auth.value` is missing"),
    ],
)
def test_a_mistake_is_said_without_what_is_secret(tmp_path: Path, text: str, said: str) -> None:
    document(tmp_path, "https://api.test")
    with pytest.raises((UsageError, ConnectError)) as caught:
        configured(tmp_path, text)
    assert said in str(caught.value)
    assert "3318" not in str(caught.value)


@pytest.mark.parametrize("text", ['auth = "${NOT_THERE}"', 'server = "https://${NOT_THERE}"'])
def test_a_variable_that_is_not_set_costs_its_document_alone(tmp_path: Path, text: str) -> None:
    document(tmp_path, "https://api.test")
    path = tmp_path / "isolith.toml"
    other = '[connectors.other]\nopenapi = "shop.json"'
    path.write_text(f'[connectors.shop]\nopenapi = "openapi.json"\n{text}\n{other}')
    shop, there = connect_config(read_config(path))
    assert (shop.name, why_absent(shop)) == ("shop", "`${NOT_THERE}`: NOT_THERE is not set in the environment")
    assert isinstance(there, OpenApi)


def test_an_option_of_a_document_does_not_go_with_a_server(tmp_path: Path) -> None:
    path = tmp_path / "isolith.toml"
    path.write_text('[connectors.a]\ncommand = "x"\nauth = "y"')
    with pytest.raises(UsageError, match="`auth` does not go with `command`"):
        read_config(path)


OPERATIONS = {
    "/things": {
        "get": {"operationId": "list_things", "responses": {}},
        "post": {"operationId": "make_thing", "responses": {}},
        "put": {"operationId": "allowed_by_its_document", "x-isolith-policy": "allow", "responses": {}},
        "delete": {"operationId": "drop_things", "responses": {}},
    },
    "/asked": {"get": {"operationId": "asked", "x-isolith-policy": "ask", "responses": {}}},
    "/hidden": {"get": {"operationId": "hidden", "x-isolith-policy": "deny", "responses": {}}},
}


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (Policy(preset="trusted"), ["allow", "allow", "allow", "allow", "ask", "deny"]),
        (Policy(preset="careful"), ["allow", "ask", "ask", "ask", "ask", "deny"]),
        (Policy(preset="readonly"), ["allow", "deny", "deny", "deny", "ask", "deny"]),
        (
            Policy.model_validate(
                {"rules": [{"effect": "delete", "action": "deny"}, {"effect": "write", "action": "allow"}]}
            ),
            ["allow", "allow", "allow", "deny", "ask", "deny"],
        ),
    ],
)
@pytest.mark.anyio
async def test_reads_are_allowed_writes_and_deletes_are_asked(policy: Policy, expected: list[str]) -> None:
    """By HTTP method, and by what the document says where that is stricter."""
    told = {"openapi": "3.1.0", "info": {"title": "Api", "version": "1"}, "servers": [{"url": "https://api.test"}]}
    connector = OpenApi({**told, "paths": OPERATIONS}, name="api")
    await connector.start()
    names = ["list_things", "make_thing", "allowed_by_its_document", "drop_things", "asked", "hidden"]
    assert [policy.decide(connector, connector.methods[name], {}).action for name in names] == expected
    view = govern(connector, policy)
    assert sorted(offered(view)) == sorted(
        name for name, action in zip(names, expected, strict=True) if action != "deny"
    )
    await connector.aclose()


@pytest.mark.parametrize(
    ("auth", "told"),
    [
        ('auth = "tok-3318"', 'auth = { env = "NAME" }'),
        ('auth_by_scheme = { bearer = "tok-3318" }', 'auth_by_scheme = { "bearer" = { env = "NAME" } }'),
        ('auth = { header = "X", value = "tok-3318" }', 'auth = { env = "NAME" }'),
        ('auth = { username = "me", password = "tok-3318" }', 'auth = { env = "NAME" }'),
        ('auth = "${TOKEN_OF_API}"', None),
        ('auth = "Token ${TOKEN_OF_API}"', None),
        ('auth = { env = "TOKEN_OF_API" }', None),
        ('auth = { header = "X", value = { env = "TOKEN_OF_API" } }', None),
        ('auth = { username = "me" }', None),
    ],
)
def test_a_secret_in_the_file_itself_is_told_and_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, auth: str, told: str | None
) -> None:
    monkeypatch.setenv("TOKEN_OF_API", "x")
    path = tmp_path / "isolith.toml"
    path.write_text(f'[connectors.api]\nopenapi = "https://api.test/openapi.json"\n{auth}')
    said: list[str] = []
    connect_config(read_config(path), Person(say=said.append))
    assert len(said) == (told is not None)
    assert all(f"sent as it is; `{told}` takes it" in text and "3318" not in text for text in said)

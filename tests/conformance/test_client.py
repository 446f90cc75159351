"""Every client scenario that the conformance suite of MCP requires, in both revisions, with no baseline."""

from __future__ import annotations

import pytest
from tests.conformance.run import installed, passes, scenarios
from tests.npm import missing

AUTH = tuple(
    f"auth/{name}"
    for name in (
        *("metadata-default", "metadata-var1", "metadata-var2", "metadata-var3", "basic-cimd"),
        *("scope-from-www-authenticate", "scope-from-scopes-supported", "scope-omitted-when-undefined"),
        *("scope-step-up", "scope-retry-limit", "token-endpoint-auth-basic", "token-endpoint-auth-post"),
        *("token-endpoint-auth-none", "pre-registration"),
    )
)
AUTH_2026 = tuple(
    f"auth/{name}"
    for name in (
        *("resource-mismatch", "offline-access-scope", "offline-access-not-supported"),
        *("authorization-server-migration", "iss-supported", "iss-not-advertised", "iss-supported-missing"),
        *("iss-wrong-issuer", "iss-unexpected", "iss-normalized", "metadata-issuer-mismatch"),
    )
)
REQUIRED = {
    "2026-07-28": (
        *("tools_call", "request-metadata", *AUTH, *AUTH_2026, "sep-2322-client-request-state"),
        *("http-standard-headers", "http-custom-headers", "http-invalid-tool-headers", "json-schema-ref-no-deref"),
    ),
    "2025-11-25": ("initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry", *AUTH),
}
CASES = [(revision, scenario) for revision, required in REQUIRED.items() for scenario in required]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def suite() -> list[str]:
    command = installed()
    if command is None:
        missing()
    return command


@pytest.mark.parametrize("revision", REQUIRED)
def test_nothing_is_left_out(suite: list[str], revision: str) -> None:
    assert scenarios(suite, revision) == list(REQUIRED[revision])


@pytest.mark.parametrize(("revision", "scenario"), CASES)
def test_a_scenario(suite: list[str], revision: str, scenario: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert passes(suite, scenario, revision), capsys.readouterr().out

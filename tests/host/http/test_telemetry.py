"""What is measured: numbers for Prometheus, spans for OpenTelemetry; neither names a principal, a script or a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from isolith.http import spans

if TYPE_CHECKING:
    from tests.host.http.conftest import Api

pytestmark = pytest.mark.anyio


async def test_spans(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    made = await api.run("await bank.balance(name='secret')")
    await api.get(f"/v1/executions/{made['execution_id']}")
    await api.get("/v1/executions/none")
    found = exporter.get_finished_spans()
    assert [span.name for span in found] == ["POST /v1/executions", *["GET /v1/executions/{execution_id}"] * 2]
    assert dict(found[0].attributes or {}) == {
        "isolith.operation": "create",
        "http.route": "/v1/executions",
        "http.response.status_code": 201,
    }
    assert (found[2].attributes or {})["http.response.status_code"] == 404
    assert "secret" not in "".join(span.to_json() for span in found)


async def test_without_the_package_there_are_none(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "trace", None)
    assert (await api.run("1"))["value"] == 1


async def test_metrics(api: Api) -> None:
    await api.run("await bank.balance(name='secret')")
    await api.run("1/0")
    await api.get("/v1/executions", None)
    told = await api.get("/metrics")
    assert told.headers["content-type"].startswith("text/plain")
    for line in (
        'isolith_http_requests_total{status="201"} 2.0',
        'isolith_http_requests_total{status="401"} 1.0',
        "isolith_executions_begun_total 2.0",
        'isolith_executions_total{status="failed"} 1.0',
        "isolith_executions_running 0.0",
        "isolith_calls_total 1.0",
    ):
        assert line in told.text.splitlines()
    assert not {"ada", "secret", "bank"} & set(told.text.replace('"', " ").split())

"""What a name leads to is checked where the socket is made, on the very address that is connected to."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Sequence

import pytest
from tests.bindings.egress.loopback import Loopback, Names, always, client, loopback

from isolith_bindings.egress import Destinations, Limits, Refused, Request, Retries
from isolith_bindings.egress.network import CheckedNetwork, system_resolver
from isolith_bindings.errors import CallError
from isolith_bindings.secrets import MASK, remember


async def asked(server: Loopback, names: Names, *, private: Sequence[str] = ()) -> CallError:
    async with client(server.url(host="api.test"), names=names, private=private) as egress:
        with pytest.raises(CallError) as caught:
            await egress.send(Request("GET", server.url(host="api.test")))
    assert server.seen == []
    return caught.value


@pytest.mark.parametrize("address", ["127.0.0.1", "::ffff:127.0.0.1", "169.254.169.254", "10.0.0.1", "0.0.0.0", "::1"])
def test_a_name_that_leads_inside_is_refused(address: str) -> None:
    async def main() -> CallError:
        async with loopback() as server:
            return await asked(server, Names({"api.test": [[address]]}))

    error = asyncio.run(main())
    assert error.kind == "denied"
    assert not error.retriable
    assert "api.test leads to " in error.message
    assert address not in error.message


def test_a_name_whose_address_changes_after_the_check_changes_nothing() -> None:
    """Resolved once for each connection: the second answer, which leads inside, is never asked for."""

    async def main() -> tuple[int, list[str], CallError]:
        async with loopback() as server:
            names = Names({"api.test": [["127.0.0.1"], ["10.0.0.1"]]})
            async with client(server.url(host="api.test"), names=names) as egress:
                response = await egress.send(Request("GET", server.url(host="api.test")))
                asked_before = list(names.asked)
                # The connection was closed by the server, so that a new one has to be made: to the new address.
                with pytest.raises(Refused) as caught:
                    await egress.send(Request("GET", server.url(host="api.test")))
            return response.status, asked_before, caught.value

    status, names, error = asyncio.run(main())
    assert (status, names) == (200, ["api.test"])
    assert "a private or reserved address" in error.message


def test_of_several_addresses_only_checked_ones_are_tried() -> None:
    async def main() -> int:
        async with loopback() as server:
            names = Names({"api.test": [["10.0.0.1", "169.254.169.254", "127.0.0.1"]]})
            async with client(server.url(host="api.test"), names=names) as egress:
                return (await egress.send(Request("GET", server.url(host="api.test")))).status

    assert asyncio.run(main()) == 200


def test_an_address_that_does_not_answer_gives_way_to_the_next() -> None:
    async def main() -> int:
        async with loopback() as server:
            names = Names({"api.test": [["127.0.0.9", "127.0.0.1"]]})
            async with client(server.url(host="api.test"), names=names) as egress:
                return (await egress.send(Request("GET", server.url(host="api.test")))).status

    assert asyncio.run(main()) == 200


@pytest.mark.parametrize("host", ["127.1", "2130706433", "0x7f000001", "0177.0.0.1", "localhost"])
def test_other_spellings_of_this_machine_are_refused(host: str) -> None:
    """The operating system reads these as 127.0.0.1; what is checked is what it says."""
    assert set(asyncio.run(system_resolver(host, 80))) <= {"127.0.0.1", "::1"}

    async def main() -> str:
        async with loopback() as server:
            async with client(server.url(host=host), private=(), names=system_resolver) as egress:
                with pytest.raises(Refused) as caught:
                    await egress.send(Request("GET", server.url(host=host)))
            assert server.seen == []
            return caught.value.message

    assert "leads to a loopback address" in asyncio.run(main())


class Failing(Names):
    async def __call__(self, host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(-2, "Name or service not known")


class Hanging(Names):
    async def __call__(self, host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        raise AssertionError


@pytest.mark.parametrize(
    ("names", "kind", "said"),
    [
        (Failing(), "tool_unavailable", "api.test cannot be resolved"),
        (Names({"api.test": [[]]}), "tool_unavailable", "api.test has no address"),
        (Names({"api.test": [["nonsense"]]}), "denied", "not an address"),
        (Hanging(), "tool_timeout", "gave no complete answer in time"),
    ],
)
def test_a_name_without_an_address(names: Names, kind: str, said: str) -> None:
    async def main() -> CallError:
        async with client("http://api.test", names=names, limits=Limits(connect_s=0.2)) as egress:
            with pytest.raises(CallError) as caught:
                await egress.send(Request("GET", "http://api.test/"))
            return caught.value

    error = asyncio.run(main())
    assert error.kind == kind
    assert said in error.message


def test_a_refused_address_is_not_retried() -> None:
    async def main() -> list[str]:
        names = Names({"api.test": [["10.0.0.1"]]})
        async with client("http://api.test", names=names, retries=Retries(attempts=5)) as egress:
            with pytest.raises(Refused):
                await egress.send(Request("GET", "http://api.test/"))
        return names.asked

    assert asyncio.run(main()) == ["api.test"]


def test_a_path_is_no_host() -> None:
    async def main() -> None:
        with pytest.raises(Refused):
            await CheckedNetwork(Destinations.parse([]), Names()).connect_unix_socket("/run/docker.sock")

    asyncio.run(main())


def test_the_debug_log_of_the_library_holds_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    remember("canary-0f3a-in-the-log")

    async def main() -> None:
        async with (
            loopback(always(200, b"ok", "X-Echo: canary-0f3a-in-the-log")) as server,
            client(server.url()) as egress,
        ):
            headers = (("Authorization", "Bearer canary-0f3a-in-the-log"),)
            await egress.send(Request("GET", server.url("/?key=canary-0f3a-in-the-log"), headers))

    with caplog.at_level(logging.DEBUG):
        asyncio.run(main())
    assert MASK in caplog.text
    assert "canary-0f3a" not in caplog.text

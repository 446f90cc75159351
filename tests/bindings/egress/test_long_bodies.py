"""Bodies that are kept in files: what is in memory meanwhile, how many at once, and what may go wrong."""

from __future__ import annotations

import asyncio
import errno
import os
import tracemalloc

import pytest
from tests.bindings.egress.loopback import Handler, Seen, always, client, loopback
from tests.bindings.egress.test_decoding import MIB, bomb, zipped

from isolith_bindings.egress import Limits, Request, Response
from isolith_bindings.egress.bodies import Body
from isolith_bindings.errors import CallError
from isolith_bindings.files import ByteFile


async def kept(handler: Handler, limits: Limits) -> Response:
    async with loopback(handler) as server, client(server.url(), limits=limits) as egress:
        return await egress.send(Request("GET", server.url(), keep=True))


@pytest.mark.slow
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize(("most", "truncated"), [(64 * MIB, True), (96 * MIB, False)])
def test_a_bomb_costs_its_limit_on_the_disk_and_its_cap_in_memory(layers: int, most: int, truncated: bool) -> None:
    content = bomb(96)
    for _ in range(layers - 1):
        content = zipped(content)
    limits = Limits(total_s=600, idle_s=600, body_bytes=MIB, answer_bytes=most)
    handler = always(200, content, f"Content-Encoding: {', '.join(['gzip'] * layers)}")
    tracemalloc.start()
    try:
        response = asyncio.run(kept(handler, limits))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 16 * MIB
    assert response.file is not None
    assert (response.file.size, response.truncated, response.content) == (most, truncated, bytes(MIB))
    assert response.file.read(most - 5) == bytes(5)


def test_only_a_success_that_is_to_be_kept_goes_to_the_disk() -> None:
    async def main() -> None:
        limits = Limits(body_bytes=10, answer_bytes=1000)
        for status, keep, whole in [(200, True, True), (200, False, False), (404, True, False)]:
            async with loopback(always(status, b"x" * 100)) as server, client(server.url(), limits=limits) as egress:
                response = await egress.send(Request("GET", server.url(), keep=keep))
            assert (response.file is not None, response.truncated) == (whole, not whole)
            assert response.content == b"x" * 10

    asyncio.run(main())


def test_one_at_a_time_is_written_where_one_may_be() -> None:
    """The second waits, however much of it has come, until the first is whole; what fits in memory waits for nobody."""

    async def main() -> None:
        turn = asyncio.Semaphore(1)
        first, second, third = (Body(10, None, limit=100, turn=turn) for _ in range(3))
        assert await first.add(b"x" * 50)
        waiting = asyncio.create_task(second.add(b"y" * 50))
        assert await third.add(b"z" * 10)
        await asyncio.sleep(0)
        assert second.file is None
        assert not waiting.done()
        await first.finish()
        first.let_go()
        assert await waiting
        await second.finish()
        second.let_go()
        assert first.file is not None
        assert second.file is not None
        assert (first.file.read(), second.file.read(), third.file) == (b"x" * 50, b"y" * 50, None)

    asyncio.run(main())


def test_what_breaks_off_lets_others_write() -> None:
    async def cut(_seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + b"x" * 100)

    async def main() -> None:
        limits = Limits(body_bytes=10, answer_bytes=1000, files=1)
        paths = {"/whole": always(200, b"y" * 100)}
        async with loopback(cut) as server, client(server.url(), limits=limits) as egress:
            server.paths.update(paths)
            for _ in range(2):
                with pytest.raises(CallError):
                    await egress.send(Request("GET", server.url(), keep=True))
            response = await egress.send(Request("GET", server.url("/whole"), keep=True))
        assert response.file is not None
        assert response.file.read() == b"y" * 100

    asyncio.run(main())


def test_a_full_disk_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_file: ByteFile, _content: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(ByteFile, "append", full)
    with pytest.raises(CallError, match="longer than 10 bytes, and no file takes it: No space left") as caught:
        asyncio.run(kept(always(200, b"x" * 100), Limits(body_bytes=10)))
    assert caught.value.kind == "invalid_result"


def test_a_file_is_gone_with_its_last_reference() -> None:
    file = ByteFile.of(b"abc")
    close = file.close
    assert (file.read(1, 1), file.read(5), len(file), close.alive) == (b"b", b"", 3, True)
    del file
    assert not close.alive

from __future__ import annotations

import pytest

from isolith_bindings.egress import Destinations, Origin, origin_of
from isolith_bindings.egress.rules import check_path
from isolith_bindings.errors import CallError

PUBLIC = ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"]
CLOSED = {
    "127.0.0.1": "loopback", "127.8.8.8": "loopback", "::1": "loopback", "::ffff:127.0.0.1": "loopback", "64:ff9b::7f00:1": "loopback", "2002:7f00:1::": "loopback",
    "10.0.0.1": "private", "172.31.255.255": "private", "192.168.1.1": "private", "100.64.0.1": "private", "fc00::1": "private", "fd12::1": "private", "::ffff:10.0.0.1": "private",
    "0.0.0.0": "not the address of one machine", "::": "not the address of one machine", "224.0.0.1": "not the address of one machine", "ff02::1": "not the address of one machine",
    "255.255.255.255": "private or reserved", "240.0.0.1": "private or reserved", "192.0.2.1": "private", "198.18.0.1": "private", "2001:db8::1": "private", "2001::1": "private", "::7f00:1": "loopback",
    "169.254.169.254": "link-local", "fe80::1": "link-local", "fe80::1%eth0": "link-local", "::ffff:169.254.169.254": "link-local", "2002:a9fe:a9fe::": "link-local", "64:ff9b:1::a9fe:a9fe": "link-local",
    "100.100.100.200": "private", "168.63.129.16": "metadata", "fd00:ec2::254": "private", "localhost": "not an address", "": "not an address", "1.2.3": "not an address",
}  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_open(address: str) -> None:
    assert Destinations.parse([]).problem_of(address) is None


@pytest.mark.parametrize(("address", "kind"), CLOSED.items())
def test_an_address_that_is_not_public_is_closed(address: str, kind: str) -> None:
    problem = Destinations.parse([]).problem_of(address)
    assert problem is not None
    assert kind in problem


@pytest.mark.parametrize(
    ("private", "opened", "closed"),
    [
        (["loopback"], ["127.0.0.1", "::1", "::ffff:127.0.0.1"], ["10.0.0.1", "169.254.169.254", "0.0.0.0"]),
        (["private"], ["10.0.0.1", "fd12::1", "100.64.0.1"], ["127.0.0.1", "100.100.100.200", "fd00:ec2::254", "169.254.169.254", "::ffff:100.100.100.200"]),
        (["10.1.0.0/16"], ["10.1.2.3"], ["10.2.0.1"]),
        (["0.0.0.0/0", "::/0"], ["10.0.0.1", "127.0.0.1", "fd12::1"], ["169.254.169.254", "100.100.100.200", "fd00:ec2::254", "168.63.129.16"]),
        (["169.254.169.254"], ["169.254.169.254"], ["169.254.169.253"]),
        (["100.100.100.200"], ["100.100.100.200"], ["100.100.100.201"]),
    ],
)  # fmt: skip
def test_what_is_opened_and_what_stays_closed(private: list[str], opened: list[str], closed: list[str]) -> None:
    destinations = Destinations.parse([], private)
    assert [address for address in opened if destinations.problem_of(address)] == []
    assert [address for address in closed if destinations.problem_of(address) is None] == []


@pytest.mark.parametrize(
    ("allowed", "url", "permitted"),
    [
        ("api.test", "https://api.test/x", True),
        ("api.test", "https://API.test", True),
        ("api.test", "https://api.test:443/", True),
        ("api.test", "https://api.test./", True),
        ("api.test", "http://api.test/x", False),
        ("api.test", "https://api.test:8443/", False),
        ("api.test", "https://sub.api.test/", False),
        ("api.test", "https://api.test.evil.test/", False),
        ("api.test", "https://xapi.test/", False),
        ("api.test:8443", "https://api.test:8443/", True),
        ("api.test:8443", "https://api.test/", False),
        ("*.api.test", "https://eu.api.test/", True),
        ("*.api.test", "https://a.b.api.test/", True),
        ("*.api.test", "https://api.test/", False),
        ("*.api.test", "https://evilapi.test/", False),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/", True),
        ("http://127.0.0.1:8000", "https://127.0.0.1:8000/", False),
        ("http://[::1]:8000", "http://[0:0:0:0:0:0:0:1]:8000/", True),
    ],
)
def test_which_origins_are_allowed(allowed: str, url: str, permitted: bool) -> None:
    assert Destinations.parse([allowed]).permits(origin_of(url)) is permitted


@pytest.mark.parametrize(
    "text",
    [
        "",
        "*",
        "https://",
        "ftp://api.test",
        "api.test/v1",
        "https://a@api.test",
        "api test",
        "api.test?x",
        "http://api.test:99999",
        "-.test-",
    ],
)
def test_what_is_no_host_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a host: write api\.example\.com"):
        Destinations.parse([text])


def test_a_network_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="intranet"):
        Destinations.parse([], ["intranet"])


@pytest.mark.parametrize(
    "url",
    [
        "api.test/x", "//api.test/x", "/x", "", "ftp://api.test", "file:///etc/passwd", "https://", "https:///x", "javascript:alert(1)",
        "https://user:pw@api.test/", "https://api.test@evil.test/", "https://api.test\\@evil.test/", "https://api.test\\.evil.test/",
        "https://api.test/a b", "https://api.test/a\r\nHost: evil", "https://api.test/\x00", "https://api.test/ü", "https://ünï.test/", "https://api.test:port/", "https://api.test:99999/",
        "https://[::1/", "https://[v1.a]/", "https://a..b/", "https://.api.test/", "https://[::1%25eth0]/",
        "https://api.test/../x", "https://api.test/a/./b", "https://api.test/%2e%2e/x", "https://api.test/%2E./x", "https://api.test/a%2f..%2fb", "https://api.test/a%5c..", "https://api.test/%252e%252e/x", "https://api.test/a/..",
        "https://api.test/%25252e%25252e", "https://api.test/a%255c%252e%252e",
    ],
)  # fmt: skip
def test_a_url_that_could_be_read_in_two_ways_is_refused(url: str) -> None:
    with pytest.raises(CallError) as caught:
        origin_of(url)
    assert caught.value.kind == "invalid_arguments"


@pytest.mark.parametrize(
    "path", ["/a..b/...", "/..a", "/v1.2/x", "/group%2Fproject", "/100%25", "/", "", "/.well-known/x", "/a%252Fb"]
)
def test_dots_within_a_segment_are_text(path: str) -> None:
    check_path(path)


def test_an_origin_as_text() -> None:
    assert [str(origin_of(url)) for url in ("https://A.test:443/x?y", "http://a.test:81", "http://[::1]:80/")] == [
        "https://a.test",
        "http://a.test:81",
        "http://[::1]",
    ]
    assert origin_of("https://a.test") == Origin("https", "a.test", 443)

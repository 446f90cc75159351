"""A link says what it was signed for, to whom has the key, as long as it is good; anything else is refused by name."""

from __future__ import annotations

import base64
import dataclasses
import json
from datetime import UTC, datetime, timedelta

import pytest

from isolith.approvals.links import KEY_BYTES, MAX_TOKEN, Link, LinkError, read, sign, token_in

KEY, OTHER = b"k" * KEY_BYTES, b"o" * KEY_BYTES
NOW = datetime(2026, 1, 1, tzinfo=UTC)
LINK = Link("e1", 3, "d" * 64, 1, "approve", "ada@example.com", NOW + timedelta(hours=1))


def test_what_is_signed_is_read() -> None:
    for link in (LINK, dataclasses.replace(LINK, verdict="reject", who="Ädá", asked=7)):
        assert read(f" {sign(link, KEY)}\n", KEY, NOW) == link
    assert LINK.call_id == "e1.3"


def test_a_token_goes_into_a_url_as_it_is() -> None:
    token = sign(LINK, KEY)
    assert set(token) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")
    for url in (token, f"https://a.example/links/{token}", f" https://a.example/x/{token}/?utm=1#top "):
        assert read(token_in(url), KEY, NOW) == LINK


def test_it_is_good_until_its_time_and_not_a_moment_longer() -> None:
    token = sign(LINK, KEY)
    assert read(token, KEY, LINK.expires_at - timedelta(microseconds=1)) == LINK
    for late in (LINK.expires_at, LINK.expires_at + timedelta(days=1)):
        with pytest.raises(LinkError, match="good until 2026-01-01 01:00 UTC") as caught:
            read(token, KEY, late)
        assert caught.value.why == "expired"


def test_no_character_of_it_can_be_changed() -> None:
    token = sign(LINK, KEY)
    for at in range(len(token)):
        for other in ("A", "B", ".", "="):
            if token[at] == other:
                continue
            with pytest.raises(LinkError) as caught:
                read(token[:at] + other + token[at + 1 :], KEY, NOW)
            assert caught.value.why in {"tampered", "malformed"}
    for cut in range(len(token)):
        with pytest.raises(LinkError):
            read(token[:cut], KEY, NOW)


def test_what_it_says_cannot_be_put_under_its_signature() -> None:
    version, body, signature = sign(LINK, KEY).split(".")
    told = json.loads(base64.urlsafe_b64decode(body + "=="))
    for at, other in ((0, "e2"), (1, 4), (2, "e" * 64), (3, 2), (4, "reject"), (5, "eve"), (6, 2**40)):
        changed = [*told[:at], other, *told[at + 1 :]]
        forged = base64.urlsafe_b64encode(json.dumps(changed, separators=(",", ":")).encode()).rstrip(b"=").decode()
        with pytest.raises(LinkError) as caught:
            read(f"{version}.{forged}.{signature}", KEY, NOW)
        assert caught.value.why == "tampered"


def test_another_key_is_another_seal() -> None:
    with pytest.raises(LinkError, match="signed with another key"):
        read(sign(LINK, OTHER), KEY, NOW)
    with pytest.raises(ValueError, match="at least 32 bytes"):
        sign(LINK, b"short")


@pytest.mark.parametrize(
    "text", ["", "hello", "1..", "2.YQ.YQ", "1.YQ", "1.Y Q.YQ", "1.YQ.YQ\0", "1.ä.YQ", f"1.{'A' * MAX_TOKEN}.YQ"]
)
def test_what_is_no_link(text: str) -> None:
    with pytest.raises(LinkError, match="no approval link") as caught:
        read(text, KEY, NOW)
    assert caught.value.why == "malformed"


@pytest.mark.parametrize("who", ["", "x" * 201])
def test_it_is_for_somebody(who: str) -> None:
    with pytest.raises(ValueError, match="for somebody"):
        sign(dataclasses.replace(LINK, who=who), KEY)

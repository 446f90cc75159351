from __future__ import annotations

import asyncio
import base64
import copy
import json
import logging
import pickle
import sys
import types
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from isolith_bindings import secrets
from isolith_bindings.secrets import MASK, RedactingFilter, Secret, SecretUnavailable, redact, redact_bytes, remember

CANARY = 'canary/5d2f+"quoted" é'


def revealed(secret: Secret) -> str:
    return asyncio.run(secret.reveal())


def refused(secret: Secret) -> SecretUnavailable:
    with pytest.raises(SecretUnavailable) as caught:
        revealed(secret)
    assert caught.value.kind == "tool_unavailable"
    assert caught.value.__cause__ is None
    return caught.value


def test_from_the_environment_at_each_use(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = Secret.env("ISOLITH_TEST_TOKEN")
    monkeypatch.delenv("ISOLITH_TEST_TOKEN", raising=False)
    error = refused(secret)
    assert (error.message, error.hint) == (
        "the environment variable ISOLITH_TEST_TOKEN is not set",
        "export ISOLITH_TEST_TOKEN=...",
    )
    for value in ("first-token", "second-token"):
        monkeypatch.setenv("ISOLITH_TEST_TOKEN", value)
        assert revealed(secret) == value


def test_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "token"
    assert "cannot be read: No such file" in refused(Secret.file(path)).message
    path.write_text("file-token\n")
    assert revealed(Secret.file(path)) == "file-token"
    path.write_bytes(b"canary-\xff")
    assert "it is not UTF-8 text" in refused(Secret.file(path)).message
    path.write_text("\n")
    assert "is empty" in refused(Secret.file(path)).message
    path.write_text("x" * (65 << 10))
    assert "longer than 64 KiB" in refused(Secret.file(path)).message


def test_from_a_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert refused(Secret.keyring("github", "me")).hint == "pip install keyring"
    keyring = types.ModuleType("keyring")
    kept = {("github", "me"): "ring-token"}
    keyring.__dict__["get_password"] = lambda service, username: kept.get((service, username))
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    assert revealed(Secret.keyring("github", "me")) == "ring-token"
    assert refused(Secret.keyring("github", "you")).hint == "keyring set github you"


def test_from_a_function_of_either_kind() -> None:
    async def asynchronous() -> str:
        await asyncio.sleep(0)
        return "async-token"

    assert revealed(Secret.of(lambda: "plain-token")) == "plain-token"
    assert revealed(Secret.of(asynchronous)) == "async-token"


def test_a_function_that_fails_tells_its_class_only() -> None:
    def failing() -> str:
        raise ValueError(f"vault said {CANARY}")

    error = refused(Secret.of(failing))
    assert error.message == "the secret (function failing) cannot be read: ValueError"
    assert CANARY not in f"{error!r} {error.__cause__}"


@pytest.mark.parametrize("value", ["", None, 7, b"bytes", "two\nlines", "a\x00b", "tab\tbed"])
def test_what_is_no_secret_is_refused_without_being_shown(value: object) -> None:
    error = refused(Secret(lambda: value, "test"))
    assert "the secret (test)" in error.message
    assert str(value or "?") not in error.message


@dataclass(frozen=True)
class Holder:
    token: Secret
    name: str = "n"


def test_no_text_form_shows_it(caplog: pytest.LogCaptureFixture) -> None:
    secret = Secret.literal(CANARY)
    asyncio.run(secret.reveal())
    with caplog.at_level(logging.DEBUG):
        logging.getLogger("anyone").warning("%s %r %s", secret, secret, Holder(secret))
    texts = [
        str(secret),
        repr(secret),
        f"{secret}",
        f"{secret:>40}",
        repr(Holder(secret)),
        caplog.text,
        repr(copy.copy(Holder(secret))),
    ]
    assert [text for text in texts if "canary" in text] == []
    assert str(secret) == MASK
    assert repr(Secret.env("GITHUB_TOKEN")) == "Secret(env GITHUB_TOKEN)"
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(secret)
    with pytest.raises(TypeError):
        json.dumps(secret)


@pytest.mark.parametrize(
    "spelled",
    [
        CANARY, quote(CANARY), quote(CANARY, safe=""), quote_plus(CANARY), json.dumps(CANARY), json.dumps(CANARY, ensure_ascii=False), repr(CANARY), f"Bearer {CANARY}!", f"x{CANARY}{CANARY}y",
        base64.b64encode(CANARY.encode()).decode(), str(CANARY.encode()),
    ],
)  # fmt: skip
def test_every_usual_spelling_is_masked(spelled: str) -> None:
    remember(CANARY)
    cleared = redact(f"before {spelled} after")
    assert "canary" not in cleared
    assert base64.b64encode(CANARY.encode()).decode()[:12] not in cleared
    assert cleared.startswith("before ")
    assert cleared.endswith(" after")
    assert b"canary" not in redact_bytes(spelled.encode(), [CANARY])


def test_words_are_not_masked() -> None:
    remember("abc")
    remember("word7")
    assert redact("abc") == "abc"
    assert redact("word7") == MASK
    assert redact_bytes(b"word7 in a body is a word", ["word7"]) == b"word7 in a body is a word"


def test_the_longest_is_masked_first() -> None:
    remember("prefix-token")
    remember("prefix-token-and-more")
    assert redact("prefix-token-and-more") == MASK


def test_half_a_secret_at_the_end_of_a_cut_body_is_masked() -> None:
    for length in range(4, 22):
        cut = b"text " + b"canary-91ab-long-enough"[:length]
        assert redact_bytes(cut, ["canary-91ab-long-enough"], cut=True) == b"text " + MASK.encode()
        assert redact_bytes(cut, ["canary-91ab-long-enough"]) == cut


def test_what_is_known_is_bounded() -> None:
    """The oldest is forgotten: a token that is renewed for ever costs nothing."""
    remember("canary-the-oldest")
    for number in range(secrets.MOST_KNOWN):
        remember(f"token-{number:08}")
    assert redact("canary-the-oldest") == "canary-the-oldest"
    assert redact(f"token-{secrets.MOST_KNOWN - 1:08}") == MASK


def test_a_log_that_is_filtered(caplog: pytest.LogCaptureFixture) -> None:
    remember("canary-77aa-logged")
    logger = logging.getLogger("isolith.test.filtered")
    logger.addFilter(RedactingFilter())
    with caplog.at_level(logging.INFO):
        logger.info("sent %s with %d", b"canary-77aa-logged", 7)
    assert caplog.messages == [f"sent b'{MASK}' with 7"]


def test_the_beginning_of_a_text_ends_with_no_half_of_a_secret() -> None:
    remember("canary-of-the-beginning")
    for length in range(40):
        shown = secrets.redact_beginning(f"{'.' * length}canary-of-the-beginning", 30)
        assert (len(shown) <= 30, "canary" in shown) == (True, False)

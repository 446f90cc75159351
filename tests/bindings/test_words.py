"""Words of any script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isolith_bindings.words import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("listContacts", "list contacts"),
        ("list_contacts-by.URL", "list contacts by url"),
        ("HTTPServer2", "http server2"),
        ("open PRs, listURLs, IDsOfVMs", "open prs list urls ids of vms"),
        ("HTTPSomething URLSet", "http something url set"),
        ("CoreV1NamespacedPod", "core v1 namespaced pod"),
        ("Über Straße", "uber strasse"),
        ("café CAFÉ cafe\u0301", "cafe cafe cafe"),
        ("搜索", "搜索"),
        ("搜索订单", "搜索 索订 订单"),
        ("get订单list", "get 订单 list"),
        ("한국어 검색", "한국어 검색"),
        ("заказы клиента", "заказы клиента"),
        ("ﬁle", "file"),
        ("a a", "a a"),
        ("", ""),
        ("?!", ""),
    ],
)
def test_words(text: str, expected: str) -> None:
    assert words(text) == expected.split()


@given(st.text())
def test_words_are_letters_and_digits_and_stay_themselves(text: str) -> None:
    found = words(text)
    assert all(word.isalnum() for word in found)
    assert words(" ".join(found)) == [part for word in found for part in words(word)]

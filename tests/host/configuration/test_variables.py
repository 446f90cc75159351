"""References in configuration files: what they stand for, and that no error shows a value."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from isolith.configuration.variables import Input, Variables, variable_of
from isolith.errors import ConnectError
from isolith_bindings.secrets import Secret, redact

ENVIRONMENT = {"HOME_OF": "/srv", "API_TOKEN": "tok-8841-abc", "EMPTY": "", "TRICK": "${API_TOKEN}"}


def variables(folder: Path = Path("/work/project"), **inputs: object) -> Variables:
    asked = {name: Input.model_validate({"id": name, **dict(given)}) for name, given in inputs.items()}  # type: ignore[call-overload]
    return Variables(folder, asked, environment=ENVIRONMENT)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain $HOME {x}", "plain $HOME {x}"),
        ("${HOME_OF}/bin", "/srv/bin"),
        ("${env:HOME_OF}:${HOME_OF}", "/srv:/srv"),
        ("${NOT_SET:-otherwise}", "otherwise"),
        ("${NOT_SET:-}", ""),
        ("${EMPTY:-otherwise}", "otherwise"),
        ("${EMPTY}", ""),
        ("${NOT_SET:-https://host:8080/x}", "https://host:8080/x"),
        ("${TRICK}", "${API_TOKEN}"),  # what was looked up is not looked into again
        ("${workspaceFolder}/x", "/work/project/x"),
        ("${workspaceFolderBasename}", "project"),
        ("${userHome}", str(Path.home())),
        ("a${/}b${pathSeparator}c", f"a{os.sep}b{os.sep}c"),
    ],
)
def test_what_a_reference_stands_for(text: str, value: str) -> None:
    assert variables().text(text) == value


@pytest.mark.parametrize("name", [".vscode", ".cursor", ".claude"])
def test_a_file_of_an_editor_is_about_the_folder_above(name: str) -> None:
    assert variables(Path("/work/project") / name).text("${workspaceFolder}") == "/work/project"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("${NOT_SET}", "`${NOT_SET}`: NOT_SET is not set in the environment"),
        ("${env:NOT_SET}", "`${env:NOT_SET}`: NOT_SET is not set in the environment"),
        ("${command:x}", "`${command:x}` is no reference"),
        ("${}", "`${}` is no reference"),
        ("${input:other}", "there is no such input; `inputs` declares: `key`"),
        ("${input:key}", "nobody is here: set ISOLITH_INPUT_KEY in the environment"),
    ],
)
def test_what_is_not_there_is_named(text: str, said: str) -> None:
    with pytest.raises(ConnectError) as caught:
        variables(key={}).text(text)
    assert said in str(caught.value)


# ---------------------------------------------------------------------------------------------- inputs


def test_a_person_is_asked_once() -> None:
    asked: list[Input] = []

    def prompt(question: Input) -> str:
        asked.append(question)
        return "answer-5521"

    found = variables(key={"password": True, "description": "Key"})
    found.prompt = prompt
    assert found.text("${input:key} ${input:key}") == "answer-5521 answer-5521"
    assert [(question.id, question.password, question.description) for question in asked] == [("key", True, "Key")]


def test_the_environment_answers_before_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    assert variable_of("api-key.2") == "ISOLITH_INPUT_API_KEY_2"
    monkeypatch.setenv("ISOLITH_INPUT_API_KEY", "from-the-environment")
    asked = Input.model_validate({"id": "api-key", "default": "x"})
    assert Variables(Path(), {"api-key": asked}).text("${input:api-key}") == "from-the-environment"


def test_a_default_stands_in_and_a_choice_is_checked() -> None:
    assert variables(key={"default": "7"}).text("${input:key}") == "7"
    wrong = variables(key={"type": "pickString", "options": ["a", "b"], "default": "c"})
    with pytest.raises(ConnectError, match="is one of 'a', 'b'"):
        wrong.text("${input:key}")
    with pytest.raises(ConnectError, match="a command of an editor: set ISOLITH_INPUT_KEY"):
        variables(key={"type": "command"}).text("${input:key}")


# ---------------------------------------------------------------------------------------------- secrets


@pytest.mark.anyio
async def test_what_a_person_or_the_environment_gives_is_a_secret() -> None:
    found = variables(key={"default": "answer-7733"}).credential("Bearer ${input:key}")
    assert isinstance(found, Secret)
    assert "7733" not in repr(found) + str(found)
    assert await found.reveal() == "Bearer answer-7733"
    assert isinstance(variables().credential("${API_TOKEN}"), Secret)


def test_what_is_written_in_the_file_stays_text() -> None:
    assert variables().credential("${workspaceFolder}/x") == "/work/project/x"
    assert variables().credential("plain") == "plain"


def test_what_looks_secret_is_masked_in_every_text() -> None:
    assert variables().text("--token=${API_TOKEN}") == "--token=tok-8841-abc"
    assert "8841" not in redact("server said tok-8841-abc")
    assert redact("in /srv") == "in /srv"


def test_nothing_of_it_shows_in_a_repr() -> None:
    found = variables(key={"default": "answer-9914"})
    found.text("${input:key}")
    assert "answer-9914" not in repr(found)
    assert "tok-8841" not in repr(found)

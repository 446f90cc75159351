"""Configuration files: what they may say, and what is said of mistakes in them."""

from __future__ import annotations

import json
import textwrap
import tomllib
from typing import TYPE_CHECKING

import jsonschema
import pytest
from jsonschema.validators import Draft202012Validator

from isolith.budgets import CEILINGS, UNLIMITED, Budgets
from isolith.configuration.config import config_schema, read_config, read_policy
from isolith.errors import UsageError
from isolith_bindings.rules import Rule

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = """
connect = ["crm.py", "mcp.json"]

[connectors.docs]
command = "npx"
args = ["-y", "docs-server"]
env = { TOKEN = "${DOCS_TOKEN}", LEVEL = 3 }
trusted = true
scope = "session"

[connectors.github]
openapi = "github.json"

[policy]
preset = "careful"

[[policy.rules]]
match = "docs.*"
effect = ["write", "delete"]
where = { path = { matches = "/tmp/.*" }, count = { at_most = 10 }, dry_run = true }
action = "allow"
reason = "nothing outside of /tmp"

[[policy.rules]]
match = ["github.*delete*"]
action = "deny"

[budgets]
cpu_ms = 500
wall_s = 30

[ceilings]
cpu_ms = 1000
calls = 10_000
wall_s = "unlimited"
"""


def written(tmp_path: Path, text: str, name: str = "isolith.toml") -> Path:
    path = tmp_path / name
    path.write_text(textwrap.dedent(text))
    return path


def failure(tmp_path: Path, text: str, name: str = "isolith.toml") -> str:
    path = written(tmp_path, text, name)
    with pytest.raises(UsageError) as caught:
        read_config(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message.replace(f"`{path}`: ", "")


def test_everything_that_a_file_may_say(tmp_path: Path) -> None:
    config = read_config(written(tmp_path, WHOLE)).config
    assert config.connect == ("crm.py", "mcp.json")
    docs = config.connectors["docs"].as_server()
    assert (docs.kind, docs.command, docs.args, docs.isolith.trusted, docs.isolith.scope) == (
        "stdio",
        "npx",
        ("-y", "docs-server"),
        True,
        "session",
    )
    assert config.connectors["github"].openapi == "github.json"
    assert config.policy is not None
    assert config.policy.preset == "careful"
    assert [rule.action for rule in config.policy.rules] == ["allow", "deny"]
    assert config.policy.rules[0].where["dry_run"].equals is True
    assert config.budgets == Budgets(cpu_ms=500, wall_s=30)


def test_ceilings_are_ours_but_for_what_is_said(tmp_path: Path) -> None:
    ceilings = read_config(written(tmp_path, WHOLE)).config.granted.ceilings
    assert (ceilings.cpu_ms, ceilings.wall_s, ceilings.memory_mb) == (1000, UNLIMITED, CEILINGS.memory_mb)
    assert (ceilings.calls, ceilings.calls_per_connector) == (10_000, 10_000)
    assert read_config(written(tmp_path, "")).config.granted.ceilings == CEILINGS


def test_a_preset_by_its_name(tmp_path: Path) -> None:
    policy = read_config(written(tmp_path, 'policy = "readonly"')).config.policy
    assert policy is not None
    assert (policy.preset, policy.rules) == ("readonly", ())


def test_json_will_do_and_an_mcp_json_is_one(tmp_path: Path) -> None:
    text = '{"$schema": "x", "mcpServers": {"docs": {"command": "x"}}, "policy": "careful" /* said */}'
    found = read_config(written(tmp_path, text, "isolith.json"))
    assert found.has_servers
    assert found.config.policy is not None
    assert not read_config(written(tmp_path, WHOLE)).has_servers


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('conect = ["x"]', "`conect` is not known here; did you mean `connect`"),
        ("[budget]\ncpu_ms = 1", "`budget` is not known here; did you mean `budgets`?"),
        (
            '[connectors.a]\nopenapi = "x"\nsever = "x"',
            "`connectors.a.sever` is not known here; did you mean `server`?",
        ),
        (
            '[connectors.a]\nopenapi = "x"\nauth = { header = "X", valeu = "x" }',
            "`connectors.a.auth.valeu` is not known here; did you mean `value`?",
        ),
        (
            'policy.rules = [{ match = "a.*", acton = "deny" }]',
            "`policy.rules.0.acton` is not known here; did you mean `action`?",
        ),
        (
            '[policy]\npreset = "careful"\n\n[[policy.rules]]\nmatch = "a.*"\naction = "deny"\n\n'
            '  [[ policy . rules ]]\nmatch = "b.*"\nacton = "deny"',
            "`policy.rules.1.acton` (line 8) is not known here; did you mean `action`?",
        ),
        ('policy.rules = [{ match = "a.*", action = "dney" }]', "'allow', 'ask' or 'deny', and not 'dney'"),
        ('connect = "x"', '`connect` has to be a list: `["..."]`'),
        ("connect = 5", "`connect` has to be a list"),
        ('[connectors.a]\ncommand = "x"\ntrusted = "yes"', "`connectors.a.trusted` has to be true or false"),
        ('[connectors.a]\ncommand = "x"\nidentify = 1', "`connectors.a.identify` has to be true or false"),
        ('[connectors.a]\ncommand = "x"\noauth = "no"', "`connectors.a.oauth` has to be"),
        ('[connectors.a]\nopenapi = "x"\nstrict_responses = "on"', "`connectors.a.strict_responses` has to be true"),
        (
            '[connectors.a]\nopenapi = "x"\nserver = "127.0.0.1:8861"',
            "`connectors.a.server` is no address: write `http://127.0.0.1:8861`",
        ),
        (
            '[connectors.a]\nopenapi = "x"\nserver = "/v1"',
            "`connectors.a.server` is no address: write the whole address, which begins with `https://` or `http://`",
        ),
        ("[connectors.a]\ntrusted = true", "`connectors.a` it needs one of `command`, `url` and `openapi`"),
        ('[connectors.a]\ncommand = "x"\nopenapi = "y"', "`connectors.a` it needs one of"),
        ('[connectors.a]\ncommand = "x"\ntruste = true', "`connectors.a.truste` is not known here"),
        ('[connectors.a]\ncommand = "x"\ntype = "http"', "`connectors.a` `http` does not go with a `command`"),
        ('policy = "lax"', "`policy.preset` has to be 'trusted', 'careful' or 'readonly', and not 'lax'"),
        ('[policy]\nrules = [{ match = "docs.*" }]', "`policy.rules.0.action` is missing"),
        (
            '[policy]\nrules = [{ match = "docs", action = "deny" }]',
            "`docs` is no connector.method: write `docs.*` or `*.docs`",
        ),
        ('[policy]\nrules = [{ action = "deny", where = { a = {} } }]', "`policy.rules.0.where.a` it asks for nothing"),
        ("[budgets]\ncpu_sm = 5", "there is no budget `cpu_sm`: did you mean `cpu_ms`?"),
        ('[budgets]\ncpu_ms = "5"', "budget `cpu_ms` must be a valid integer"),
        ("[ceilings]\nmemory_mb = 1", "budget `memory_mb` must be"),
        ('[ceilings]\nmemory_mb = "unlimited"', "budget `memory_mb` must be"),
        ('[ceilings]\ncpu_ms = "none"', "`ceilings.cpu_ms` has to be"),
    ],
)
def test_a_mistake_names_its_place(tmp_path: Path, text: str, said: str) -> None:
    assert said in failure(tmp_path, text)


def test_a_mistake_shows_no_value(tmp_path: Path) -> None:
    secrets = '[connectors.a]\ncommand = "x"\nargs = "tok-4417"\nenv = ["tok-4417"]\nheaders = { A = ["tok-4417"] }\nmine = "tok-4417"'
    assert "4417" not in failure(tmp_path, secrets)
    shown = repr(
        read_config(
            written(tmp_path, '[connectors.a]\ncommand = "x"\nargs = ["tok-4417"]\nenv = { A = "tok-4417" }')
        ).config
    )
    assert "4417" not in shown


# ---------------------------------------------------------------------------------------------- policies


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("policy.toml", 'preset = "readonly"\nrules = [{ match = "docs.*", action = "ask" }]'),
        ("policy.json", '{"preset": "readonly", "rules": [{"match": "docs.*", "action": "ask"}]}'),
        ("isolith.toml", '[policy]\npreset = "readonly"\nrules = [{ match = ["docs.*"], action = "ask" }]'),
    ],
)
def test_a_policy_by_itself_or_in_a_configuration(tmp_path: Path, name: str, text: str) -> None:
    policy = read_policy(written(tmp_path, text, name))
    assert (policy.preset, policy.rules) == ("readonly", (Rule(match=("docs.*",), action="ask"),))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('preset = "lax"', "`policy.preset` has to be"),
        ("rule = []", "`policy.rule` is not known here"),
        ('rules = [{ action = "deny", when = "x" }]', "`policy.rules.0.when`"),
    ],
)
def test_a_policy_that_makes_no_sense(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_policy(written(tmp_path, text, "policy.toml"))
    assert said in str(caught.value)


# ---------------------------------------------------------------------------------------------- the schema


def test_the_schema_takes_what_is_taken_and_refuses_what_is_not() -> None:
    schema = config_schema()
    Draft202012Validator.check_schema(schema)
    jsonschema.validate(tomllib.loads(WHOLE), schema)
    jsonschema.validate({"policy": "careful", "mcpServers": {"a": {"command": "x"}}}, schema)
    mistakes: tuple[object, ...] = (
        {"conect": []},
        {"policy": "lax"},
        {"policy": {"rules": [{"action": "perhaps"}]}},
        {"budgets": {"cpu_ms": "5"}},
    )
    for wrong in mistakes:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


def test_the_schema_says_what_each_name_means() -> None:
    text = json.dumps(config_schema())
    assert "What the arguments have to be" in text
    assert '"in"' in text
    assert '"when"' not in text

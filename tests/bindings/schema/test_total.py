"""Whatever a server sends there is a stub: it parses, it type-checks, and it is within its limits."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, cast

import jsonschema
import pytest
import referencing
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis_jsonschema import from_schema
from jsonschema import validators
from tests.bindings.schema import generated
from tests.bindings.schema.suite import DRAFTS, examples
from tests.bindings.schema.well_formed import schemas

from isolith_bindings.schema.observed import observe
from isolith_bindings.schema.stubs import DETAILS, MAX_SIGNATURE, MAX_STUB, PRELUDE, Subject, make, signature, stub
from isolith_bindings.schema.validate import Validator

if TYPE_CHECKING:
    from isolith_bindings.connector import JsonSchema

seeds = st.integers(0, 2**32)


def drawn(seed: int, shape: object = generated.schema) -> JsonSchema:
    return cast("JsonSchema", shape(Random(seed)))  # type: ignore[operator] # noqa: S311


@settings(max_examples=2000, deadline=None, derandomize=True)
@given(seeds, seeds, st.sampled_from(DETAILS), st.sampled_from(generated.WORDS), st.booleans())
def test_it_parses(parameters: int, returns: int, detail: object, words: str, native: bool) -> None:
    """Without the net below it: nothing is raised, at any detail."""
    shape = generated.schema if parameters % 2 else generated.json
    subject = Subject("do_it", drawn(parameters, shape), drawn(returns), words, native=native, lenient=returns % 2 == 0)
    ast.parse(PRELUDE + make(subject, detail).text)  # type: ignore[arg-type]


well_formed = schemas()
unhurried = settings(
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


@settings(unhurried, max_examples=150)
@given(well_formed, well_formed)
def test_it_parses_for_well_formed_schemas(parameters: object, returns: object) -> None:
    """Schemas that are well-formed, drawn by hypothesis-jsonschema; the validator can use each."""
    assert Validator(cast("JsonSchema", returns)).usable
    ast.parse(PRELUDE + make(_subject(parameters, returns), DETAILS[0]).text)


def _subject(parameters: object, returns: object) -> Subject:
    incoming = cast("JsonSchema", parameters if isinstance(parameters, dict) else {})
    return Subject("do_it", incoming, cast("JsonSchema", returns))


def _made_by_hypothesis(number: int) -> list[Subject]:
    found: list[Subject] = []

    @settings(unhurried, max_examples=number)
    @given(well_formed, well_formed)
    def collect(parameters: object, returns: object) -> None:
        found.append(_subject(parameters, returns))

    collect()
    return found


@settings(max_examples=200, deadline=None, derandomize=True)
@given(seeds, seeds)
def test_it_is_within_its_limits(parameters: int, returns: int) -> None:
    subject = Subject("do_it", drawn(parameters), drawn(returns))
    assert len(stub(subject).text) <= MAX_STUB
    line = signature("do_it", subject.parameters, subject.returns)
    assert len(line) <= MAX_SIGNATURE
    ast.parse(f"{line}: ...")


@settings(max_examples=200, deadline=None, derandomize=True)
@given(seeds, seeds)
def test_validation_never_raises(schema: int, value: int) -> None:
    validator = Validator(drawn(schema))
    assert all(
        problem.message and len(str(problem)) < 3000 for problem in validator.problems(drawn(value, generated.json))
    )
    assert validator.usable is (validator.reason is None)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(from_schema({}), min_size=1, max_size=3))
def test_what_was_observed_fits_what_is_said_of_it(values: list[object]) -> None:
    """Of any JSON, by the schema that is learnt from it."""
    schema = observe(values[0])
    for value in values[1:]:
        schema = observe(value, schema)
    validator = Validator(schema)
    assert validator.usable
    assert [validator.problems(value) for value in values] == [[] for _ in values]


@settings(max_examples=1500, deadline=None, derandomize=True)
@given(seeds, seeds)
def test_the_verdict_is_that_of_the_reference_implementation(schema: int, value: int) -> None:
    """`jsonschema`, over random schemas and values; what it cannot decide or refuses is left out."""
    said, given_value = drawn(schema), cast("str", drawn(value, generated.json))
    validator = Validator(said)
    if not validator.usable or isinstance(cast("object", said), bool):
        return
    reference = validators.validator_for(said, default=jsonschema.Draft202012Validator)
    try:
        reference.check_schema(said)
        expected = reference(said, registry=referencing.Registry()).is_valid(given_value)
    except Exception:  # noqa: BLE001 - references that lead nowhere, patterns that are none, numbers too long to be shown
        return
    assert (validator.problems(given_value) == []) is expected


@pytest.mark.slow
def test_it_type_checks(tmp_path: Path) -> None:
    """Stubs of the whole public suite and of generated schemas, two kinds of them, by mypy; none of them is the same as another."""
    subjects = [
        Subject("do_it", example.schema if isinstance(example.schema, dict) else {}, example.schema, example.name)
        for draft in DRAFTS
        for example in examples(draft)
    ]
    subjects += [
        Subject(
            "do_it",
            drawn(seed),
            drawn(seed + 1),
            generated.WORDS[seed % len(generated.WORDS)],
            native=seed % 3 == 0,
            lenient=seed % 5 == 0,
        )
        for seed in range(0, 1200, 2)
    ]
    subjects += _made_by_hypothesis(150)
    texts = {PRELUDE + stub(subject, number % len(DETAILS)).text for number, subject in enumerate(subjects)}
    texts |= {PRELUDE + stub(subject).text for subject in subjects}
    assert len(texts) > 1500
    for number, text in enumerate(sorted(texts)):
        (tmp_path / f"stub_{number}.pyi").write_text(f"{text}\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--no-incremental",
        "--strict",
        "--config-file=",
        "--python-version=3.12",
        ".",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_a_type_error_would_be_found(tmp_path: Path) -> None:
    """The judge of the test above judges."""
    (tmp_path / "stub.pyi").write_text(f"{PRELUDE}async def do_it(*, a: Missing) -> Any: ...\n")
    command = [sys.executable, "-m", "mypy", "--no-incremental", "--strict", "--config-file=", "."]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 1

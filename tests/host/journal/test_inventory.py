"""The inventory of what is kept, in the host's README, is the tables; and what it says of the chain is so."""

from __future__ import annotations

from pathlib import Path

from isolith.journal import schema

README = Path(__file__).resolve().parents[3] / "host" / "README.md"


def inventory() -> list[list[str]]:
    lines = README.read_text().partition("### What it keeps")[2].partition("###")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]


def test_every_store_is_in_the_inventory_with_key_life_and_owner() -> None:
    rows = inventory()
    assert all(len(row) == 5 and all(row) for row in rows)
    assert sorted(row[0].strip("`") for row in rows) == sorted(schema.metadata.tables)


def test_the_inventory_says_what_is_chained_and_why_the_rest_is_not() -> None:
    chained = {row[0].strip("`"): row[4] for row in inventory()}
    said = {kind: {name for name, how in chained.items() if how == kind} for kind in ("yes", "own")}
    assert said["yes"] == {table.name for table in schema.OF_AN_EXECUTION}
    assert said["own"] == {table.name for table in schema.OF_NONE}
    others = {name: how for name, how in chained.items() if how not in said}
    assert others.pop("records") == "it is the chain"
    assert all(how.startswith("no: ") for how in others.values())

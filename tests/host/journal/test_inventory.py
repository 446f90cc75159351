"""The inventory of what is kept, in the host's README, is the tables."""

from __future__ import annotations

from pathlib import Path

from isolith.journal import schema

README = Path(__file__).resolve().parents[3] / "host" / "README.md"


def test_every_store_is_in_the_inventory_with_key_life_and_owner() -> None:
    lines = README.read_text().partition("### What it keeps")[2].partition("###")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]
    assert all(len(row) == 4 and all(row) for row in rows)
    assert sorted(row[0].strip("`") for row in rows) == sorted(schema.metadata.tables)

"""Schemas nobody would write: random ones that are shaped like schemas, and random JSON in their place."""

from __future__ import annotations

from random import Random

WORDS = [
    "string", "object", "array", "integer", "null", "number", "boolean", "#", "#/$defs/a", "#/$defs/b", "#a", "a", "b", "c", "a b", "class", "é", "x" * 300, '"""\\', "'''", "\u202e", "date-time", "binary",
    "artifact", "a\nb", "int", "list", "date", "__x", "ﬁ", "fi", "", "# type: ignore", "\ud800", "\x00", "others", "self", "None", "True", "Any", "Literal", "\\", '"', "{", "}", "Issue", "issues",
]  # fmt: skip
SUBSCHEMA = ["items", "additionalProperties", "not", "if", "then", "else", "contains", "unevaluatedProperties", "additionalItems", "propertyNames"]  # fmt: skip
SUBSCHEMAS = ["anyOf", "oneOf", "allOf", "prefixItems", "items"]
NAMED = ["properties", "$defs", "definitions", "patternProperties", "dependentSchemas"]
TYPES = [
    "string",
    "object",
    "object",
    "array",
    "integer",
    "number",
    "boolean",
    "null",
    ["string", "null"],
    ["object", "null"],
]
REFERENCES = ["#", "#/$defs/a", "#/$defs/b", "#/definitions/c", "http://x", "#/properties/a", "#a"]
KEYWORDS = [
    *SUBSCHEMA, *SUBSCHEMAS, *NAMED, "type", "type", "required", "enum", "const", "$ref", "$ref", "$dynamicRef", "$recursiveRef", "title", "description", "default", "format", "minimum", "maximum", "exclusiveMinimum",
    "minLength", "maxItems", "minItems", "nullable", "examples", "example", "deprecated", "readOnly", "pattern", "$id", "id", "$anchor", "uniqueItems", "multipleOf",
]  # fmt: skip
SCALARS = [None, True, False, 0, 1, -1, 2.5, float("nan"), float("inf"), 10**5000]


def json(random: Random, depth: int = 0) -> object:
    """Any JSON, with the keywords of schemas in it."""
    kind = random.random()
    if depth > 5 or kind < 0.35:
        return random.choice([*SCALARS, [], {}, *WORDS])
    if kind < 0.55:
        return [json(random, depth + 1) for _ in range(random.randrange(4))]
    keys = [random.choice(KEYWORDS if random.random() < 0.8 else WORDS) for _ in range(random.randrange(1, 6))]
    return {name: json(random, depth + 1) for name in keys}


def schema(random: Random, depth: int = 0) -> object:
    """What is mostly a schema, and now and then is not."""
    if depth > 4 or random.random() < 0.1:
        return json(random, 4)
    return {name: _says(name, random, depth) for name in random.sample(KEYWORDS, random.randrange(1, 5))}


def _says(name: str, random: Random, depth: int) -> object:
    if random.random() < 0.1:
        return json(random, 3)
    if name in NAMED:
        return {random.choice([*WORDS, "a", "b", "c"]): schema(random, depth + 1) for _ in range(random.randrange(4))}
    if name in SUBSCHEMAS and (name != "items" or random.random() < 0.3):
        return [schema(random, depth + 1) for _ in range(random.randrange(4))]
    if name in SUBSCHEMA:
        return schema(random, depth + 1)
    choices: dict[str, list[object]] = {
        "type": [*TYPES],
        "required": [["a"], ["b", "c"]],
        "$ref": [*REFERENCES],
        "$dynamicRef": [*REFERENCES],
    }
    return random.choice(choices[name]) if name in choices else json(random, 3)

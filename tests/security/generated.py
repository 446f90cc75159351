"""Hostile scripts that are too large or too odd for a file: made here, each with the end it has to have."""

from __future__ import annotations

from tests.security.corpus import Hostile, parse

_COMPILES_OR_NOT = "failed syntax|not_a_script|recursion|exception|memory_exceeded|cpu_exceeded"
_ANY = f"completed or {_COMPILES_OR_NOT}"

_KB = 1_000

_TEXTS: dict[str, tuple[str, str]] = {
    "source_of_a_megabyte": ("failed invalid_input", "x = 1\n" * 170_000),
    "source_of_a_megabyte_in_one_line": ("failed invalid_input", "x" * 1_000_000),
    "source_of_a_megabyte_of_comments": ("failed invalid_input", "#\n" * 500_000),
    "source_of_megabytes_of_nothing": ("failed invalid_input", " " * 20_000_000),
    "sum_of_100_kb": ("failed recursion|exception|memory_exceeded", "+".join("1" * 50_000)),
    "product_of_names_100_kb": ("failed recursion|exception|memory_exceeded", "*".join("x" * 50_000)),
    "parentheses": (_COMPILES_OR_NOT, "(" * 100_000 + ")" * 100_000),
    "parentheses_unclosed": (_COMPILES_OR_NOT, "(" * 200_000),
    "brackets": (_COMPILES_OR_NOT, "[" * 100_000 + "]" * 100_000),
    "braces": (_COMPILES_OR_NOT, "{" * 100_000 + "}" * 100_000),
    "mappings": (_COMPILES_OR_NOT, '{"a":' * 40_000 + "1" + "}" * 40_000),
    "minus": (_COMPILES_OR_NOT, "-" * 200_000 + "1"),
    "not": (_COMPILES_OR_NOT, "not " * 60_000 + "1"),
    "await": (_COMPILES_OR_NOT, "await " * 40_000 + "x"),
    "lambda": (_COMPILES_OR_NOT, "lambda:" * 30_000 + "1"),
    "attributes": (_COMPILES_OR_NOT, "x" + ".x" * 100_000),
    "calls": (_COMPILES_OR_NOT, "x" + "()" * 100_000),
    "subscripts": (_COMPILES_OR_NOT, "x" + "[0]" * 80_000),
    "conditionals": (_COMPILES_OR_NOT, "1 if x else " * 20_000 + "1"),
    "assignments": (_ANY, "x = " * 60_000 + "1"),
    "walrus": (_COMPILES_OR_NOT, "(x := " * 30_000 + "1" + ")" * 30_000),
    "indentation": (_COMPILES_OR_NOT, "\n".join(" " * i + "if 1:" for i in range(600))),
    "functions": (_COMPILES_OR_NOT, "\n".join(" " * i + f"def f{i}():" for i in range(300))),
    "elif": (_ANY, "if 0: pass\n" + "elif 0: pass\n" * 18_000),
    "else_if": (_COMPILES_OR_NOT, "\n".join(" " * i + "if 0: pass\n" + " " * i + "else:" for i in range(300))),
    "try": (_COMPILES_OR_NOT, "\n".join(" " * i + "try:" for i in range(300))),
    "with": (_COMPILES_OR_NOT, "with " + ", ".join(["x"] * 80_000) + ": pass"),
    "decorators": (_COMPILES_OR_NOT, "@x\n" * 80_000 + "def f(): pass"),
    "match": (_COMPILES_OR_NOT, "match x:\n case " + "[" * 50_000 + "]" * 50_000 + ": pass"),
    "names": (_ANY, "\n".join(f"n{i} = {i}" for i in range(15_000))),
    "imports": (_ANY, "\n".join(f"import m{i}" for i in range(15_000))),
    "imports_of_tools": (_ANY, "from tools import desk\n" * 10_000),
    "main_guards": (_ANY, 'if __name__ == "__main__":\n    pass\n' * 6_000),
    "runners": (_ANY, "asyncio.run(x)\n" * 15_000),
    "returns": (_ANY, "if 0: return 1\n" * 15_000),
    "string_prefixes": (_COMPILES_OR_NOT, "rb" * 100_000 + "''"),
    "string_unclosed": (_COMPILES_OR_NOT, "'" * 199_999),
    "string_triple": (_ANY, '"""' * 80_000),
    "strings_joined": (_ANY, "'a'" * 80_000),
    "f_strings": (_COMPILES_OR_NOT, "f'{" * 20_000 + "1" + "}'" * 20_000),
    "f_string_specs": (_COMPILES_OR_NOT, "f'" + "{x:" * 60_000 + "}" * 60_000 + "'"),
    "number_of_200_kb": (_COMPILES_OR_NOT, "9" * 200_000),
    "number_in_hexadecimal": (_ANY, "0x" + "f" * 200_000),
    "number_underscores": (_COMPILES_OR_NOT, "1" + "_" * 200_000),
    "list_of_numbers": ("completed", f"len([{'1,' * 20_000}])"),
    "backslashes": (_ANY, "\\" * 200_000),
    "continuation_lines": (_ANY, "\\\n" * 100_000 + "1"),
    "newlines": (_ANY, "\n" * 250_000),
    "carriage_returns": (_ANY, "\r" * 250_000),
    "form_feeds": (_ANY, "\f" * 250_000 + "1"),
    "spaces": (_ANY, " " * 250_000 + "1"),
    "tabs_and_spaces": (_ANY, "\n".join("\t" * (i % 7) + " " * (i % 5) + "x" for i in range(15_000))),
    "semicolons": (_ANY, ";" * 200_000),
    "null_bytes": ("failed invalid_input|syntax", "x = 1\0" * 1_000),
    "null_bytes_only": ("failed invalid_input|syntax", "\0" * 200_000),
    "surrogates": (f"failed invalid_input or {_ANY}", "'\udcff\ud800'"),
    "right_to_left": (_ANY, "'\u202e\u2066' # \u202e" * 5_000),
    "combining": (_ANY, "a" + "\u0300" * 100_000 + " = 1"),
    "wide_identifiers": (_ANY, "𝔡𝔢𝔰𝔨 = 1\n" * 5_000),
    "coding_line": (_ANY, "# -*- coding: utf-7 -*-\n+AGkAbQBwAG8AcgB0-"),
    "coding_unknown": (_ANY, "# coding: no-such-thing\n1"),
    "byte_order_marks": (_ANY, "\ufeff" * 50_000 + "1"),
    "fences": (_ANY, "```" * 60_000),
    "fences_opened": (_ANY, "```python\n" * 20_000),
    "fences_and_prose": (_ANY, "Here is it:\n```py\nx = 1\n```\n" * 7_000),
    "backticks": (_ANY, "`" * 200_000),
    "tildes": (_ANY, "~~~\n" * 50_000),
    "prose": (_COMPILES_OR_NOT, "I will now list all of the contacts. " * 6_000),
    "prose_of_one_word": (_COMPILES_OR_NOT, "word " * 40_000),
    "prompts": (_ANY, "$ " * 100_000),
    "prompts_of_python": (_ANY, ">>> x = 1\n... \n" * 15_000),
    "shell_pipes": (_COMPILES_OR_NOT, "cat x | " * 25_000 + "sort"),
    "javascript": (_COMPILES_OR_NOT, "const x = () => { return 1; };\n" * 7_000),
    "javascript_templates": (_COMPILES_OR_NOT, "`${" * 60_000),
    "javascript_comments": (_ANY, "/*" * 100_000),
    "json_lists": (_COMPILES_OR_NOT, "[" * 200_000),
    "json_mappings": (_COMPILES_OR_NOT, '{"code":' * 25_000),
    "json_of_code": (_ANY, '{"code": "' + "x = 1\\n" * 25_000 + '"}'),
    "json_escapes": (_COMPILES_OR_NOT, '["' + "\\u" * 100_000 + '"]'),
    "markup": (_COMPILES_OR_NOT, "<tool_call>" * 20_000),
    "markup_nested": (_COMPILES_OR_NOT, "<a><b>" * 30_000),
    "equals": (_COMPILES_OR_NOT, "=" * 200_000),
    "stars": (_COMPILES_OR_NOT, "*" * 200_000),
    "commas": (_COMPILES_OR_NOT, "," * 200_000),
    "colons": (_COMPILES_OR_NOT, ":" * 200_000),
    "dots": (_ANY, "." * 200_000),
    "hashes": (_ANY, "#" * 250_000),
    "bangs": (_COMPILES_OR_NOT, "!" * 200_000),
    "percents": (_COMPILES_OR_NOT, "%" * 200_000),
    "at_signs": (_COMPILES_OR_NOT, "@" * 200_000),
    "alternating": (_COMPILES_OR_NOT, "a1 " * 60_000),
    "words_without_spaces": (_ANY, "a" * 250_000),
    "lines_of_one_letter": (_ANY, "a\n" * 100_000),
    "empty": (_ANY, ""),
}

_BYTES: dict[str, tuple[str, bytes]] = {
    "not_utf8": ("failed invalid_input|syntax", b"x = '\xff\xfe'"),
    "not_utf8_only": ("failed invalid_input|syntax", b"\xff" * 100 * _KB),
    "utf16": ("failed invalid_input|syntax", "x = 1".encode("utf-16")),
    "utf8_surrogate": ("failed invalid_input|syntax", b"'\xed\xa0\x80'"),
    "utf8_overlong": ("failed invalid_input|syntax", b"'\xc0\xaf'"),
    "pickle": ("failed invalid_input|syntax|not_a_script|exception", b"cposix\nsystem\n(S'id'\ntR."),
    "compiled": ("failed invalid_input|syntax|not_a_script", b"\xf3\x0d\x0d\x0a" + bytes(100)),
    "wasm": ("failed invalid_input|syntax|not_a_script", b"\0asm\x01\0\0\0" + bytes(1000)),
}


def generated() -> list[tuple[Hostile, str | bytes]]:
    """Each with its text, or its bytes."""
    texts = [_made(name, ends, text) for name, (ends, text) in _TEXTS.items()]
    return [*texts, *(_made(name, ends, data) for name, (ends, data) in _BYTES.items())]


def _made(name: str, ends: str, text: str | bytes) -> tuple[Hostile, str | bytes]:
    return parse(f"generated/{name}", "", {"ends": ends, "cpu_ms": "600"}), text

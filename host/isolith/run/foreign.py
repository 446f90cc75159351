"""What a text is when it is not Python. Pure; asked after Python itself said no, so it may guess, but not wrongly.

Each line votes: for Python, JavaScript or shell, with the weight of the strongest sign in it. A foreign language needs
one sign that Python cannot have, and more votes than Python. Only the first 16 KiB, and 300 characters of a line, are
looked at: that bounds the time a hostile text can take, whatever the patterns do.
"""

from __future__ import annotations

import json
import keyword
import re
from typing import Literal, cast

from isolith.outcome import Diagnostic
from isolith.run.markdown import string_after
from isolith_bindings import json_text

Language = Literal["JavaScript", "shell", "JSON", "HTML", "SQL", "prose", "a transcript", "IPython"]

SAMPLE = 16 * 1024
LONGEST_LINE = 300
_CERTAIN = 3

# Strongest first: the first that fits is a line's vote.
_Signs = tuple[tuple[int, re.Pattern[str]], ...]
_Lines = list[tuple[int, str]]


def _signs(*signs: tuple[int, str]) -> _Signs:
    return tuple((weight, re.compile(pattern)) for weight, pattern in signs)


_COMPOUND = "elif|else|except|finally|try|while|with|for|if|class|match|async for|async with"

_PYTHON = _signs(
    (3, r"\s*(async\s+)?def\s+\w+\s*\("),
    (3, r"\s*from\s+[\w.]+\s+import\b|\s*import\s+[\w.]+(\s+as\s+\w+)?\s*(,|#|$)"),
    (3, rf"\s*({_COMPOUND})\b.*:\s*(#.*)?$"),
    (3, r"\s*(elif|except|raise|pass|nonlocal|lambda|assert|del)\b"),
    (2, r"\s*(async\s+)?for\s+[\w, ()]+\s+in\s"),
    (2, r".*\b(None|True|False|elif|lambda)\b|.*\b(not in|is not)\s"),
    (2, r".*\b[fFrRbB]{1,2}[\"']"),
    (2, r"\s*print\b\s*[(\"']|.*\bself\."),
    (2, r".*\[.*\bfor\b.*\bin\b"),
    (1, r"\s*(if|while)\s+[^({]"),
    (1, r"\s*[\w.\[\]\"']+(\s*,\s*[\w.]+)*\s*(:[^=]+)?[-+*/|&%]?=\s*[^=>\s]"),
)

_NAME = r"[\w$]+"
_JAVASCRIPT = _signs(
    (3, rf"\s*(export\s+)?(const|let|var)\s+({_NAME}|\{{[^}}]*\}}|\[[^\]]*\])\s*(:[^=]*)?(=[^=]|;|$)"),
    (3, r"\s*(export\s+(default\s+)?)?(async\s+)?function(\s*\*?\s+\w+\s*\(|\s*\(.*\)\s*\{)"),
    (3, r"\s*export\s+(default|const|async|function|class|type|interface)\b"),
    (3, r".*\.(map|filter|forEach|find|reduce|some|every|then|sort|flatMap)\(\s*(async\s+)?(\w+|\([^()]*\))\s*=>"),
    (3, r".*\([^()]*\)\s*=>\s*\{"),
    (3, r".*\bconsole\.(log|error|warn|info|table)\("),
    (3, r"\s*(\}\s*)?(if|for|while|switch|catch|else\s+if)\s*\(.*\)\s*\{\s*(//.*)?$"),
    (3, r"\s*(\}\s*)?(else|try|finally|do)\s*\{"),
    (3, r"\s*import\s+.*\bfrom\s*[\"']|\s*import\s*[\"']"),
    (3, r"\s*(interface|class|enum)\s+[\w<>$]+[^:(]*\{\s*$"),
    (2, r".*(===|!==)|.*=\s*new\s+[A-Z]\w*\(|.*\brequire\(|.*[(=,]\s*(\w+|\([^()]*\))\s*=>"),
    (1, r".*;\s*$|.*(&&|\|\|)|.*\b(null|undefined)\b|\s*(//|/\*)"),
)

# After the name of a program: an argument, and none of the words that may follow a name in Python.
_ARGUMENT = r"(?!(in|is|and|or|not|if|for|else|as|import)\b)([\w'\"$~{]|-{1,2}\w|\.{0,2}/)"
_PROGRAMS = (
    "sudo|curl|wget|grep|mkdir|rmdir|pip3?|npm|npx|yarn|pnpm|git|docker|kubectl|chmod|chown|apt-get|apt|brew|echo|ls|cd"
    "|rm|cp|mv|sed|awk|xargs|bash|python3?|node|uv|jq|cat|tar|ssh|ping|touch"
)
# Those that are also words of English, or likely names, need an argument that only a shell has.
_WORDS = "find|make|which|sort|head|tail|source|kill|env|tee|date|wc|ps|set|test|cut|tr|diff|time|printf"
_SHELL = _signs(
    (9, r"#!.*\b(ba|z|k|da)?sh\b"),
    (3, r"\s*\$\s+[\w./]"),
    (3, rf"\s*[!%]\s*({_PROGRAMS})\b"),
    (3, rf"\s*({_PROGRAMS})\s+{_ARGUMENT}"),
    (3, rf"\s*({_WORDS})\s+(-{{1,2}}[a-zA-Z]|\.(\s|$)|\.{{0,2}}/\S|[~$]\S)|\s*export\s+\w+="),
    (3, r".*;\s*(then|do)\s*$|\s*(fi|done|esac)\s*$"),
    (3, r".*(2>&1|>\s*/dev/null|<<-?\s*(\"\"|EOF))"),
    (2, r".*\$\(|.*\|\s*(grep|jq|awk|sed|xargs|head|tail|wc|tee|bash|sh|uniq)\b"),
    (1, r".*(&&|\$\{?\w)|\s*(ls|pwd|whoami)\s*$"),
)

# The whole of a script: nothing can have given a meaning to the name, and nobody writes a subtraction like that.
_COMMAND = re.compile(rf"({_PROGRAMS})([ ]+-{{1,2}}[a-zA-Z][\w-]*)+([ ]+[\w./-]+)*|ls([ ]+[/.][\w./-]*)?|pwd|whoami")

_HTML = re.compile(r"\s*<(!doctype|!--|\?xml|[a-z][\w:-]*(\s|/?>|$))", re.IGNORECASE)
_SQL = re.compile(
    r"""\s*(select\s.{1,2000}?\bfrom\s|insert\s+into\s+\S|update\s+\S+\s+set\s|delete\s+from\s+\w
    |(create|alter|drop)\s+(or\s+replace\s+)?(temp\w*\s+)?(table|view|index|database|schema)\b
    |with\s+(recursive\s+)?\w+\s+as\s*\(\s*select\b|pragma\s+\w)""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_PROMPT = re.compile(r"\s*(>>>(\s|$)|In \[\d*\]:)")
_MAGIC = re.compile(r"%%?[a-z]\w*(\s|$)")
_STRING = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""")

_HINTS: dict[Language, str] = {
    "JavaScript": "Isolith runs Python: write `x = await crm.list()` instead of `const x = await crm.list();`",
    "shell": "there is no shell: write Python, and call the connectors for what lies outside",
    "JSON": "Isolith runs Python: hand data over as `input`, and send the script that works on it",
    "HTML": "Isolith runs Python: put markup into a string",
    "SQL": "Isolith runs Python: give the statement to a connector, or to `sqlite3` in memory, as a string",
    "prose": "send Python and nothing else; remarks are comments, `# like this`",
    "a transcript": "leave out the prompts (`>>>`, `...`, `In [1]:`) and what was printed",
    "IPython": "leave out the lines that begin with `%` or `!`: there are no magic commands here",
}


def classify(text: str) -> Language | None:
    """What `text` is, when it is not Python; None where broken Python is as likely."""
    found = _evidence(text)
    return found[0] if found else None


def not_a_script(text: str) -> Diagnostic | None:
    """The diagnostic to give instead of `syntax`, or None where `syntax` is the better answer."""
    found = _evidence(text)
    if found is None:
        return None
    language, line = found
    source_line = next((content for number, content in sample(text) if number == line), "")
    return _diagnostic(language, line, source_line, _declared(source_line) or _HINTS[language])


def foreign_though_valid(text: str) -> Diagnostic | None:
    """Refuses a text that Python can read, and that cannot be meant as Python."""
    return json_instead(text) or _shell_instead(text)


def _shell_instead(text: str) -> Diagnostic | None:
    """One command: `ls -la /tmp` reads as a subtraction and a division."""
    command = text.strip()
    if len(command) > LONGEST_LINE or not _COMMAND.fullmatch(command):
        return None
    [(line, source_line)] = sample(text)
    return _diagnostic("shell", line, source_line, _HINTS["shell"])


def json_instead(text: str) -> Diagnostic | None:
    """Refuses a text that is one JSON document and cannot be meant as Python.

    That is a call of a tool (`{"code": "…"}`), or data with `true`, `false` or `null`, names that Python does not have.
    """
    data = _json(text)
    if data is None:
        return None
    line, source_line = next(iter(sample(text)), (1, ""))
    field = _code_field(data[0])
    if field is not None:
        return _diagnostic("JSON", line, source_line, f"send the text of `{field}` itself as the script")
    if re.search(r"\b(true|false|null)\b", _emptied(text)):
        return _diagnostic("JSON", line, source_line, _HINTS["JSON"])
    return None


def _diagnostic(language: Language, line: int, source_line: str, hint: str) -> Diagnostic:
    message = f"this is {language}, not Python"
    return Diagnostic(kind="not_a_script", message=message, hint=hint, line=line, source_line=source_line)


def _evidence(text: str) -> tuple[Language, int] | None:
    """The language and the line, from 1, that gives it away."""
    lines = sample(text)
    if not lines:
        return None
    whole = _by_whole(text, lines)
    if whole:
        return whole, lines[0][0]
    code = _outside_strings(lines)
    python = sum(_weight(_PYTHON, line) for _, line in code)
    for language, signs in (("JavaScript", _JAVASCRIPT), ("shell", _SHELL)):
        votes = [(_weight(signs, line), number) for number, line in code]
        certain = [number for weight, number in votes if weight >= _CERTAIN]
        if certain and sum(weight for weight, _ in votes) > python:
            return cast("Language", language), certain[0]
    return ("prose", lines[0][0]) if _all_prose(lines) else None


def _by_whole(text: str, lines: _Lines) -> Language | None:
    """The languages that are told by how they begin, and JSON, which is told by reading it."""
    first = next((line for _, line in lines if not line.lstrip().startswith("--")), "")
    if _like_json(text, lines):
        return "JSON"
    if _HTML.match(first):
        return "HTML"
    if _PROMPT.match(first):
        return "a transcript"
    if _MAGIC.match(first):
        return "IPython"
    if not _is_prose(first) and _SQL.match("\n".join(line for _, line in lines if not line.lstrip().startswith("--"))):
        return "SQL"
    return None


def sample(text: str) -> _Lines:
    """The lines that are looked at, with their numbers from 1; no blank ones."""
    lines = enumerate(text[:SAMPLE].split("\n"), 1)
    return [(number, line[:LONGEST_LINE]) for number, line in lines if line.strip()]


def _outside_strings(lines: _Lines) -> _Lines:
    """Each line with its strings emptied; none that lies inside a triple-quoted string."""
    code: _Lines = []
    quote = ""
    for number, line in lines:
        if not quote:
            code.append((number, _emptied(line)))
        quote = string_after(line, quote)
    return code


def _emptied(line: str) -> str:
    return _STRING.sub('""', line)


def _weight(signs: _Signs, line: str) -> int:
    if line.lstrip().startswith("#") and not line.startswith("#!"):
        return 0
    return next((weight for weight, pattern in signs if pattern.match(line)), 0)


_CODE_FIELDS = ("code", "script", "python", "source", "command")
_NAME_FIELDS = {"name", "tool", "tool_name", "function", "recipient_name", "method", "type"}
_ARGUMENT_FIELDS = ("arguments", "input", "parameters", "args", "params")


def _json(text: str) -> tuple[object] | None:
    """What `text` says as one JSON document of an object, a list or a constant, in a box; None if it is none."""
    if text.strip()[:1] not in {"{", "[", "t", "f", "n"}:
        return None
    try:
        json_text.check(text)
        # Not strict: models leave line ends inside strings.
        return (json.loads(text, strict=False),)
    except (ValueError, RecursionError):
        return None


def _code_field(data: object) -> str | None:
    """The field of a tool call that holds what should have been sent."""
    if not isinstance(data, dict):
        return None
    call = cast("dict[str, object]", data)
    field = next((name for name in _CODE_FIELDS if isinstance(call.get(name), str)), None)
    if field and call.keys() <= {*_CODE_FIELDS, *_ARGUMENT_FIELDS, "budgets", "session", "language"}:
        return field
    arguments = next((name for name in _ARGUMENT_FIELDS if isinstance(call.get(name), (dict, str))), None)
    if arguments and call.keys() & _NAME_FIELDS and len(call) <= 4:
        inner = _code_field(call[arguments])
        return f"{arguments}.{inner}" if inner else arguments
    return None


def _like_json(text: str, lines: _Lines) -> bool:
    """JSON as it is, one document a line, or damaged but with words that only JSON has."""
    if _json(text) or (len(lines) > 1 and all(_json(line) for _, line in lines)):
        return True
    ends = text.strip()[:1] + text.strip()[-1:]
    bare = "\n".join(_emptied(line) for _, line in lines)
    constants = re.search(r"\b(true|false|null)\b", bare)
    return ends in {"{}", "[]"} and bool(constants) and not re.search(r"""[=()']|\b(None|True|False|for)\b""", bare)


_BULLET = re.compile(r"\s*(([-*•>]|#+|\d+[.)])\s+)+")
_WORD = re.compile(r"""["'(*_`]*[^\W\d_][\w'\u2019/-]*["')*_`]*[.,;:!?…]*["')*_]*$""")
_END = re.compile(r"""[.!?:…]["')*_]*$""")
# Words that no statement of Python has.
_ENGLISH = re.compile(
    r"(the|an?|to|of|on|by|so|i|you|your|it|we|me|my|this|that|these|which|what|how|here|there|will|can|could|should|would"
    r"|be|are|have|need|please|sorry|i'll|i'm|i've|let's|can't|don't)[.,;:!?]*$",
    re.IGNORECASE,
)
_STATEMENTS = frozenset(keyword.kwlist) | {"print", "match", "case", "type", "exec"}


def _all_prose(lines: _Lines) -> bool:
    prose = sum(_is_prose(line) for _, line in lines)
    rest = [line for _, line in lines if not _is_prose(line)]
    # Headings and short items of a list go with whatever is around them.
    other = sum(_BULLET.match(line) is None for line in rest)
    return prose > 0 and prose >= 1.5 * other and not any(_weight(_PYTHON, _emptied(line)) for line in rest)


def _is_prose(line: str) -> bool:
    """A sentence, or a good part of one. No pseudo-code: nothing that begins like a statement of Python."""
    text = _BULLET.sub("", line, count=1).strip()
    if re.search(r"[=\[\]{}]|\w\(", text):
        return False
    if sum(character > "\u2e80" for character in text) > len(text) / 2:
        return not text.isidentifier()
    tokens = text.split()
    if len(tokens) < 3 or tokens[0] in _STATEMENTS:
        return False
    if text.endswith(":") and tokens[0].lower() in _STATEMENTS:
        return False
    if sum(bool(_WORD.match(token)) for token in tokens) / len(tokens) < 0.7:
        return False
    english = sum(bool(_ENGLISH.match(token)) for token in tokens)
    capital, ended = text[0].isupper(), bool(_END.search(text))
    # In a language whose words are not known, a capital, five words and a full stop make a sentence.
    return english >= 2 or (english == 1 and (capital or ended)) or (capital and ended and len(tokens) >= 5)


_DECLARATION = re.compile(r"\s*(?:export\s+)?(?:const|let|var)\s+(\w+)\s*(?::[^=]*)?=\s*([^=].*?);?\s*$")
_NOT_SHARED = re.compile(r"=>|[{}`]|\bnew\b|===|!|&&|\|\||\b(null|undefined|true|false|function)\b|//")


def _declared(line: str) -> str | None:
    """The hint that rewrites this very line, where its right side reads the same in Python."""
    match = _DECLARATION.match(line)
    if match is None or _NOT_SHARED.search(match[2]) or len(line) > 100:
        return None
    return f"Isolith runs Python: write `{match[1]} = {match[2]}` instead of `{line.strip()}`"

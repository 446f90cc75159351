"""Bearer tokens as text: made, read, compared. Pure but for the entropy.

`isolith_ID_SECRET`: 64 bits by which it is found, 256 that open. Only the SHA-256 of the secret is kept. A slow hash
would protect what can be guessed; 256 random bits cannot, and each request would pay for it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from typing import Final

_FORM: Final = re.compile(r"isolith_([0-9a-f]{16})_([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Secret:
    """A token in the hands of whoever carries it."""

    token_id: str
    secret: str = field(repr=False)

    @property
    def text(self) -> str:
        """As it is sent."""
        return f"isolith_{self.token_id}_{self.secret}"

    @property
    def digest(self) -> str:
        """What is kept of it."""
        return hashlib.sha256(self.secret.encode()).hexdigest()

    def fits(self, digest: str) -> bool:
        """Whether this is the one of which `digest` was kept. Takes as long whatever the answer."""
        return hmac.compare_digest(self.digest, digest)


def mint() -> Secret:
    """A new one."""
    return Secret(secrets.token_hex(8), secrets.token_hex(32))


def read(text: str) -> Secret | None:
    """What somebody has sent; None where it is no token of ours."""
    found = _FORM.fullmatch(text)
    return None if found is None else Secret(found[1], found[2])

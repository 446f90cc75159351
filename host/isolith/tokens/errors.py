"""What is raised where a token cannot be judged."""

from __future__ import annotations

from isolith.errors import IsolithError


class NotJudged(IsolithError):
    """Nobody can say now whether a token is good; the message says when to ask again."""

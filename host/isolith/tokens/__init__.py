"""Who may come in over the network: bearer tokens, each of one principal, with scopes."""

from isolith.tokens.access import ALL, Access, Scope
from isolith.tokens.secret import Secret, mint, read

__all__ = ["ALL", "Access", "Scope", "Secret", "mint", "read"]

"""What is wrong with a script, told before anything runs: our own pass over its tree, without a guest."""

from isolith_bindings.check.arguments import signature
from isolith_bindings.check.checker import Report, check
from isolith_bindings.check.finding import Finding, FindingKind

__all__ = ["Finding", "FindingKind", "Report", "check", "signature"]

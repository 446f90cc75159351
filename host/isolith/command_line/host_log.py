"""The log of a command: JSON on stderr, a line for whatever went wrong inside."""

from __future__ import annotations

import logging
import sys

import structlog


def log_to_stderr() -> None:
    """Have structlog write there from now on."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )

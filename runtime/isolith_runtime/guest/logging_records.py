"""`logging` of the standard library: what it would write to a terminal is a log line of the record's own level."""

from __future__ import annotations

import logging

from isolith_runtime.guest.output import Stream

_LEVELS = ((logging.ERROR, "error"), (logging.WARNING, "warning"), (logging.INFO, "info"))
_PLAIN = logging.Formatter()


def install() -> None:
    """Put it in place; once, before the snapshot. A script need not configure anything to be heard from `info` on."""
    write = logging.StreamHandler.emit

    def emit(handler: logging.StreamHandler[Stream], record: logging.LogRecord) -> None:
        if isinstance(handler.stream, Stream):
            _say(handler, record)
        else:
            write(handler, record)

    logging.StreamHandler.emit = emit  # type: ignore[method-assign,assignment]
    logging.root.setLevel(logging.INFO)
    if logging.lastResort is not None:
        logging.lastResort.setLevel(logging.INFO)


def _say(handler: logging.StreamHandler[Stream], record: logging.LogRecord) -> None:
    try:
        attrs: dict[str, object] = {} if record.name == "root" else {"logger": record.name}
        handler.stream.say(_level(record.levelno), _text(handler, record), attrs)
    except Exception:  # what `logging` promises: a record that cannot be written does not fail the script
        handler.handleError(record)


def _level(number: int) -> str:
    return next((level for least, level in _LEVELS if number >= least), "debug")


def _text(handler: logging.StreamHandler[Stream], record: logging.LogRecord) -> str:
    """As the script formats it; where it does not say how, without the level and the name, which go beside it."""
    chosen = handler.formatter
    is_default = chosen is None or getattr(chosen, "_fmt", None) == logging.BASIC_FORMAT
    return (_PLAIN if is_default else handler).format(record)

# SPDX-License-Identifier: Apache-2.0
"""The entry point: the groups of commands, and how each error ends. The commands are in commands/."""

from __future__ import annotations

import errno
import inspect
import logging
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from flashbed.commands import on_media, on_packs, on_results, on_studies, on_this_host, on_traces
from flashbed.commands.terminal import ALLOWED_CONTROLS, PlainFormatter, out
from flashbed.common import foreign, paths, plugins
from flashbed.common.errors import (
    NO_MEMORY,
    FlashbedError,
    HostResourceError,
    InterruptedByUser,
    host_refusal,
    lacks_memory,
)

app = typer.Typer(
    help="Compare embedded-Linux storage stacks on a real kernel, in virtual time, on modelled media.\n\n"
    "Start with `flashbed run quick`. `flashbed list` shows what else there is.",
    epilog=f"The pages that messages name as docs/PAGE are in {paths.docs()}.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
_groups = (on_studies, on_results, on_packs, on_this_host)
for _name, _command in (named for group in _groups for named in group.COMMANDS.items()):
    app.command(_name)(_command)
_more = {
    "image": on_this_host.image_app,
    "medium": on_media.medium_app,
    "cut": on_results.cut_app,
    "trace": on_traces.trace_app,
}
_refused: FlashbedError | None = None
"""Why what other packages add cannot be had: told when a command runs."""

try:
    _more |= plugins.commands()
except FlashbedError as _error:
    _refused = _error
for _name, _group in _more.items():
    app.add_typer(_group, name=_name)


def _in_paragraphs(docstring: str | None) -> str:
    """Return a docstring with one line per paragraph. So --help breaks lines at the terminal's width only."""
    paragraphs = inspect.cleandoc(docstring or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


for _group in (app, *_more.values()):
    for _info in _group.registered_commands:
        _info.help = _in_paragraphs(_info.callback.__doc__)


def _print_version(is_set: bool) -> None:
    if is_set:
        from importlib.metadata import version

        out.print(f"flashbed {version('flashbed')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    if (image := paths.given_image()) is not None:
        from flashbed.commands import images

        images.take_in_once(image)


def _interrupt(*_: object) -> NoReturn:
    raise InterruptedByUser("interrupted; what was finished is kept, and the next run goes on")


GONE = InterruptedByUser.exit_code
"""The status when nobody reads what is printed any more, as of `| head`."""

FULL = "what is written, to standard output or to a file, finds no room; make room where it goes, and run again"


def main() -> None:
    """Run the command line. Each FlashbedError ends it with one message and an exit status (errors.py)."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    handler = logging.StreamHandler()
    handler.setFormatter(PlainFormatter("flashbed: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    try:
        if _refused is not None:
            raise _refused
        sys.exit(app(standalone_mode=False, prog_name="flashbed") or 0)
    except FlashbedError as error:
        _leave(error.message, error.exit_code)
    except BrokenPipeError:
        sys.exit(GONE)
    except SystemExit as error:
        # Rich raises this, with another status, if the reader of its output has gone
        sys.exit(GONE if isinstance(error.__context__, BrokenPipeError) else error.code)
    except OSError as error:
        # An error without a file name is of a file that is already open, such as standard output
        nameless = error.filename is None and error.errno == errno.ENOSPC
        _leave(FULL if nameless else host_refusal(Path(), error).message, HostResourceError.exit_code)
    except Exception as error:
        if lacks_memory(error):
            _leave(NO_MEMORY, HostResourceError.exit_code)
        usage = getattr(error, "format_message", None)
        if usage is None:
            raise
        _leave(_misused(usage(), getattr(error, "ctx", None)), 2)


def _misused(problem: str, context: typer.Context | None) -> str:
    """Return what was wrong in the words of a command, and the help to read. If `problem` is empty, a group was named
    without one of its commands, and its help is already printed.
    """
    problem = problem or "no command is named."
    command = context.command_path if context is not None else "flashbed"
    return f"{problem}{'' if problem.endswith(('.', '?')) else '.'} See `{command} --help`."


def _leave(message: str, status: int) -> NoReturn:
    with suppress(OSError):  # a full disk takes the message, and not the status
        print(f"flashbed: {foreign.plain(message, ALLOWED_CONTROLS)}", file=sys.stderr, flush=True)
    sys.exit(status)

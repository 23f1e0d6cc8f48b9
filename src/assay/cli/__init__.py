"""The command line: each command parses its flags, calls one function of the API and shows what it returns."""

from __future__ import annotations

import sys

import click

import assay
from assay.cli.audit import audit, run
from assay.cli.check import check
from assay.cli.explain import explain
from assay.cli.listing import list_entries, show
from assay.cli.report import report
from assay.cli.reproduce import reproduce
from assay.cli.train import train
from assay.types import AssayError, Interrupted

EXIT_ERROR = 1
"""Something a user can mend; one line on standard error says what."""
EXIT_INTERRUPTED = 130


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="MODEL: builtin, builtin:NAME, a folder, or a hub id. "
    "DATA: builtin, builtin:NAME, a file, a folder, a set under ASSAY_DATA, or a hub id.",
)
@click.version_option(assay.__version__, prog_name="assay")
def cli() -> None:
    """Test whether an explanation of a text model can be trusted."""


for command in (list_entries, show, explain, audit, run, report, check, train, reproduce):
    cli.add_command(command)


def main() -> None:
    """Entry point: errors a user can mend are one line, not a traceback."""
    try:
        code = cli(standalone_mode=False)
    except click.exceptions.Abort:
        code = EXIT_INTERRUPTED
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except AssayError as error:
        click.echo(f"assay: {error}", err=True)
        code = EXIT_INTERRUPTED if isinstance(error, Interrupted) else EXIT_ERROR
    except KeyboardInterrupt:
        click.echo("assay: interrupted", err=True)
        code = EXIT_INTERRUPTED
    except BrokenPipeError:  # `assay list | head` closes the pipe; that is no error
        sys.stderr.close()
        code = 0
    sys.exit(code if isinstance(code, int) else 0)

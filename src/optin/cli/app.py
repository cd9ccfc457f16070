"""The root of the command line: its commands and their help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from optin.cli import (
    announcing,
    compare,
    council,
    demo,
    doctor,
    ledger,
    limit_forms,
    log,
    plan,
    receipts,
    releases,
    report,
    sealed_files,
    serve,
    sheets,
    simulate,
    web,
    witness,
)
from optin.cli.environment import SETTINGS
from optin.cli.helping import Command, CommandGroup
from optin.cli.quiet import quietly

ABOUT = """Publish the most accurate weighted mean, with one Laplace noise, that crosses nobody's own privacy limit.

Each person states a limit: the most epsilon they accept. optin finds one cap, everyone gets the smaller of limit and cap,
and the noise follows from that. For limits 1, 4, 9, 9 the cap is 5: epsilons 1, 4, 5, 5. No weighted mean with fixed
weights and one Laplace noise is more accurate.

A campaign: plan, announce, (people join or decline), release, report. See it all in seconds: optin demo
"""


def flowing(text: str) -> str:
    r"""Join the lines of each paragraph, so that a terminal of any width breaks them where it likes.

    >>> flowing("One.\n\n    Two,\n    three.")
    'One.\n\nTwo, three.'
    """
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


app = typer.Typer(
    name="optin",
    cls=CommandGroup,
    help=flowing(ABOUT),
    epilog="\n\n".join(["Environment:", *(f"  {s.name}  {s.meaning}" for s in SETTINGS)]),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        from optin._version import __version__

        typer.echo(f"optin {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Take the options that every command shares; the help text is the app's."""


COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo.run_demo,
    "size": sheets.size_sheet,
    "plan": plan.plan_people,
    "announce": announcing.announce_plan,
    "explain": announcing.explain_offer,
    "release": releases.release_results,
    "receipt": receipts.write_receipt,
    "check": receipts.check_receipt,
    "annex": council.write_annex,
    "witness": witness.witness_log,
    "report": report.write_page,
    "compare": compare.compare_designs,
    "simulate": simulate.simulate_campaigns,
    "form": limit_forms.write_form,
    "serve": serve.serve_web,
    "doctor": doctor.check_machine,
    "completion": doctor.print_completion,
}
LEDGER_COMMANDS: dict[str, Callable[..., None]] = {
    "show": ledger.show_acts,
    "verify": ledger.verify_ledger,
    "decline": ledger.decline_offer,
    "cancel": ledger.cancel_offer,
    "open": sealed_files.open_act,
    "key": log.make_key,
    "sign": log.sign_log,
    "log": log.show_log,
    "cosign": log.keep_cosignature,
    "bundle": council.write_bundle,
}
SHEET_COMMANDS: dict[str, Callable[..., None]] = {
    "example": sheets.print_example,
    "check": sheets.check_sheet,
}
WEB_COMMANDS: dict[str, Callable[..., None]] = {
    "status": web.show_status,
    "backup": web.write_backup,
    "restore": web.restore_backup,
    "reset": web.reset_password,
}
web_app = typer.Typer(
    cls=CommandGroup,
    help="Look after a service: how it stands, backups, passwords.",
    no_args_is_help=True,
)
sheet_app = typer.Typer(cls=CommandGroup, help="Write a sheet of questions, and check it.", no_args_is_help=True)
ledger_app = typer.Typer(
    cls=CommandGroup, help="Look at a ledger, check it, and give promises back.", no_args_is_help=True
)
for _group, _commands in (
    (app, COMMANDS),
    (ledger_app, LEDGER_COMMANDS),
    (sheet_app, SHEET_COMMANDS),
    (web_app, WEB_COMMANDS),
):
    for _name, _function in _commands.items():
        _words = flowing(_function.__doc__ or "")
        _group.command(_name, cls=Command, help=_words, short_help=_words.split("\n\n")[0])(quietly(_function))
app.add_typer(ledger_app, name="ledger")
app.add_typer(sheet_app, name="sheet")
app.add_typer(web_app, name="web")

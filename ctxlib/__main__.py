"""`python -m ctxlib`: the command, for schedules that know an interpreter and no PATH."""

from ctxlib.cli import run

run()

"""Which session and which call a figure is about."""

from __future__ import annotations

import pandas as pd

from ctxlib.figures import words
from ctxlib.parameters import count as whole


def pick(sessions: pd.DataFrame, session: object = "") -> str:
    """The id of one session of sessions_df: by a unique prefix; "" is the one with the largest peak.

    "" where there are no sessions at all; ValueError with a sentence where the prefix fits none, or several.
    """
    if not isinstance(session, str):
        raise ValueError(f"parameter session must be text, not {session!r}")
    if sessions.empty:
        return ""
    if not session:
        peaks = sessions["peak_ctx"].astype("Float64").fillna(-1)
        return str(sessions["session"].iloc[int(peaks.to_numpy("float64").argmax())])
    found = [name for name in sessions["session"] if name.startswith(session)]
    if session in found:
        return session
    if len(found) != 1:
        said = "no session begins with" if not found else f"{len(found)} sessions begin with"
        names = ", ".join(words.session(name) for name in (found or list(sessions["session"]))[:5])
        raise ValueError(f"parameter session: {said} {session!r}; there is, for example, {names}")
    return str(found[0])


def thread(frame: pd.DataFrame, session: str, name: str = "main") -> pd.DataFrame:
    """The rows of one thread of snapshots_df or kinds_df: a session's main thread, or a sub-agent's."""
    rows: pd.DataFrame = frame[(frame["session_id"] == session) & (frame["thread_id"] == name)]
    return rows


def at_turn(frame: pd.DataFrame, turn: object = "") -> pd.DataFrame:
    """The rows of one call of a thread: of turn `turn` (from 1), or of the largest context for ""."""
    if frame.empty:
        return frame
    if turn == "":
        chosen = int(frame["turn"].iloc[int(frame["total"].to_numpy().argmax())])
    else:
        chosen = whole(turn, "turn", int(frame["turn"].max()))
    rows: pd.DataFrame = frame[frame["turn"] == chosen]
    return rows


def largest(sessions: pd.DataFrame) -> pd.DataFrame:
    """sessions_df by peak, the largest first."""
    ordered = sessions.sort_values(["peak_ctx", "session"], ascending=[False, True], na_position="last")
    return ordered.reset_index(drop=True)

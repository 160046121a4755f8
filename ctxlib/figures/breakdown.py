"""One call's context as bars, and the same over many sessions: where the context goes, in tokens and shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from ctxlib.figures import canvas, style, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def breakdown(source: Any) -> pd.DataFrame:
    """What `plot_breakdown` draws: category, shown (tokens), share (of the total, 0-1), method; largest first, `other`
    last; empty categories are left out.

    source: the rows of one call of snapshots_df or kinds_df, or a Snapshot.
    """
    rows = _rows(source)
    rows = rows[rows["shown"] > 0]
    rows = rows.assign(rest=rows["category"] == "other", place=rows["category"].map(style.place))
    rows = rows.sort_values(["rest", "shown", "place"], ascending=[True, False, True])
    total = max(1, int(rows["shown"].sum()))
    out = rows.assign(share=rows["shown"] / total)[["category", "shown", "share", "method"]]
    return out.reset_index(drop=True)


def _rows(source: Any) -> pd.DataFrame:
    parts: Any = source if isinstance(source, pd.DataFrame) else source.parts
    if isinstance(parts, pd.DataFrame):
        return parts.assign(method=parts.get("method", "estimate"))
    table = [(part.category, part.shown, part.method) for part in parts]
    return pd.DataFrame(table, columns=["category", "shown", "method"])


def shares(frame: pd.DataFrame) -> pd.DataFrame:
    """What `plot_shares` draws, from snapshots_df or kinds_df of any number of sessions: the last call of each session's
    main thread, summed: category, shown (tokens), share (0-1, of all of them), share_p10, share_p90 (of
    the sessions' own shares), sessions (in which it is there at all)."""
    last = last_calls(frame)
    own = last.assign(share=last["shown"] / last["total"].where(last["total"] > 0))
    by = own.groupby("category", sort=False)
    out = pd.DataFrame(
        {
            "shown": by["shown"].sum(),
            "share_p10": by["share"].quantile(0.1),
            "share_p90": by["share"].quantile(0.9),
            "sessions": by["shown"].apply(lambda shown: int((shown > 0).sum())),
        }
    ).reset_index()
    out = out[out["shown"] > 0]
    out = out.assign(share=out["shown"] / max(1, int(out["shown"].sum())), rest=out["category"] == "other")
    out = out.sort_values(["rest", "shown"], ascending=[True, False])
    return out[["category", "shown", "share", "share_p10", "share_p90", "sessions"]].reset_index(drop=True)


def last_calls(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of each session's last call of the main thread."""
    main = frame[frame["thread_id"] == "main"]
    return main[main["seq"] == main.groupby("session_id")["seq"].transform("max")]


def plot_breakdown(source: Any, *, ax: Axes | None = None) -> Axes:
    """Bars of one call's context: tokens and share of each category (rows: `breakdown`)."""
    drawn = breakdown(source)
    with canvas.styled():
        ax = canvas.axes(ax, height=0.9 + 0.36 * max(4, len(drawn)))
        if drawn.empty:
            return canvas.nothing(ax, "One call's context by category")
        _bars(ax, drawn)
        return canvas.describe(ax, f"Bars: {headline_breakdown(source)} {_listed(drawn)}")


def plot_shares(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Bars of all sessions' last calls together, with a line from p10 to p90 of the sessions (rows: `shares`)."""
    drawn = shares(frame)
    with canvas.styled():
        ax = canvas.axes(ax, height=0.9 + 0.36 * max(4, len(drawn)))
        if drawn.empty:
            return canvas.nothing(ax, "Context by category over all sessions")
        total = drawn["shown"].sum()
        low, high = drawn["share_p10"] * total, drawn["share_p90"] * total
        _bars(ax, drawn, note_at=[max(a, b) for a, b in zip(drawn["shown"], high, strict=True)])
        ax.hlines(range(len(drawn)), low, high, color=style.INK, linewidth=1.2, alpha=0.75)
        ax.plot(low, range(len(drawn)), "|", high, range(len(drawn)), "|", color=style.INK, markersize=7, alpha=0.75)
        ax.set_xlabel("share of the tokens at the last calls; line: p10 to p90 of the sessions' own shares")
        return canvas.describe(ax, f"Bars: {headline_shares(frame)} {_listed(drawn)}")


def _bars(ax: Axes, drawn: pd.DataFrame, *, note_at: list[float] | None = None) -> None:
    total = float(drawn["shown"].sum())
    for row, (category, shown) in enumerate(zip(drawn["category"], drawn["shown"], strict=True)):
        look = style.look(category)
        ax.barh(row, shown, height=0.66, color=look.color, hatch=look.hatch, edgecolor=style.INK, linewidth=0.6)
    ends = note_at or list(drawn["shown"])
    for row, (end, shown, share) in enumerate(zip(ends, drawn["shown"], drawn["share"], strict=True)):
        text = f"{words.percent(share)}  ·  {words.tokens(shown)}"
        ax.annotate(text, (end, row), xytext=(7, 0), textcoords="offset points", va="center")
    canvas.rows(ax, [style.look(name).label for name in drawn["category"]])
    ax.set_xlim(0, max(ends) * 1.22)
    step = 0.05 if max(ends) < 0.3 * total else 0.1 if max(ends) < 0.65 * total else 0.2
    ticks = [i * step for i in range(round(1 / step) + 1) if i * step * total <= max(ends) * 1.05]
    ax.set_xticks([share * total for share in ticks], [words.percent(share) for share in ticks])
    ax.set_xlabel("share of the call's tokens")


def headline_breakdown(source: Any) -> str:
    """What fills the call most, in words."""
    drawn = breakdown(source)
    if drawn.empty:
        return canvas.sentence()
    first, total = drawn.iloc[0], int(drawn["shown"].sum())
    name = style.look(first["category"]).label
    return (
        f"{name[:1].upper()}{name[1:]}: {words.percent(first['share'])} of this call's {words.tokens(total)} tokens"
        f" ({words.tokens(first['shown'])}).{_rest(drawn, first)}"
    )


def headline_shares(frame: pd.DataFrame) -> str:
    """What fills the context most over all sessions, in words."""
    drawn = shares(frame)
    if drawn.empty:
        return canvas.sentence()
    first, total = drawn.iloc[0], int(drawn["shown"].sum())
    sessions = words.count(int(last_calls(frame)["session_id"].nunique()), "session")
    name = style.look(first["category"]).label
    return (
        f"{name[:1].upper()}{name[1:]} fill{'' if name.endswith('s') else 's'} {words.percent(first['share'])} of the"
        f" context, the most of all that the logs hold: {words.tokens(first['shown'])} of {words.tokens(total)} tokens at the"
        f" last calls of {sessions}.{_rest(drawn, first)}"
    )


ADVICE = {
    "tool_result": "Ask tools for less: head, grep and --quiet in commands, ranges instead of whole files, long searches in a"
    " sub-agent that returns only its answer.",
    "tool_input": "What the model writes stays too: let it edit instead of writing files anew, and keep scripts in files"
    " rather than in commands.",
    "thinking": "Thinking is billed and, on newer models, kept: lower the effort for routine work.",
    "assistant_text": "Ask for short answers, and for results in files instead of in the chat.",
    "user_text": "Name files instead of pasting them; paste the lines in question, not the whole log.",
    "attached": "Reminders and attached files come with every prompt: close files in the editor, shrink images, turn off hooks"
    " that print much.",
    "summary": "Say what to keep when you compact (/compact with a hint): a shorter summary.",
    "messages": "Start a new session when the task changes (/clear).",
    "skills": "Remove skills that this project does not use: their listing is sent with every call.",
    "agents": "Remove agents that this project does not use: their listing is sent with every call.",
    "mcp_tools": "Disconnect MCP servers that this project does not use.",
    "deferred": "Disconnect MCP servers that this project does not use: the names of their tools are sent with every call.",
    "memory": "Shorten CLAUDE.md: it is sent with every call.",
    "other": "Most of it is the system prompt and the tools, which no log holds: run /context once in a session, and this"
    " report splits it.",
}


def advice_shares(frame: pd.DataFrame, *, most: int = 3) -> list[str]:
    """What to do about the largest parts, each with its number."""
    return _advice(shares(frame), most)


def advice_breakdown(source: Any, *, most: int = 3) -> list[str]:
    """What to do about the largest parts of one call, each with its number."""
    return _advice(breakdown(source), most)


def _advice(drawn: pd.DataFrame, most: int) -> list[str]:
    largest = drawn.sort_values("shown", ascending=False, kind="stable").head(most)
    out = []
    for name, share, shown in zip(largest["category"], largest["share"], largest["shown"], strict=True):
        label = style.look(name).label
        if name in ADVICE:
            out.append(
                f"{label[:1].upper()}{label[1:]}, {words.percent(share)} ({words.tokens(shown)}): {ADVICE[name]}"
            )
    return out


def unexplained(frame: pd.DataFrame) -> pd.DataFrame:
    """What `other` holds at each session's last call: session, project, model, total, other, at_start (there from the
    first call of its epoch: system prompt, tools, history of before the log), arrived (later, with no block in the log:
    schemas loaded on demand, reminders), in tokens; the largest `other` first."""
    rest = last_calls(frame)
    rest = rest[rest["category"] == "other"]
    out = pd.DataFrame(
        {
            "session": rest["session_id"],
            "project": rest["project"],
            "model": rest["model"],
            "total": rest["total"],
            "other": rest["shown"],
            "at_start": (rest["shown"] - rest["injected"]).clip(lower=0),
            "arrived": rest[["injected", "shown"]].min(axis=1),
        }
    )
    return out.sort_values(["other", "session"], ascending=[False, True]).reset_index(drop=True)


def headline_unexplained(frame: pd.DataFrame) -> str:
    """How much of `other` was there from the start."""
    held = unexplained(frame)
    if held.empty or not held["other"].sum():
        return canvas.sentence() if held.empty else "Nothing is left for other."
    start = float(held["at_start"].sum()) / float(held["other"].sum())
    return (
        f"{words.percent(start)} of other was there from the first call on: {words.tokens(float(held['at_start'].median()))}"
        f" tokens in the median session (system prompt, tools, what came before the log); the rest arrived later with no"
        f" trace in the log."
    )


def _rest(drawn: pd.DataFrame, first: pd.Series[Any]) -> str:
    rest = drawn[drawn["category"] == "other"]
    if rest.empty or first["category"] == "other":
        return ""
    return f" {words.percent(float(rest['share'].iloc[0]))} is held by nothing in the log (other, estimated)."


def _listed(drawn: pd.DataFrame) -> str:
    pairs = zip(drawn["category"], drawn["share"], strict=True)
    return "; ".join(f"{style.look(name).label} {words.percent(share)}" for name, share in pairs) + "."

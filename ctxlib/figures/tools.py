"""What tools put into the context, how often they fail, and what was read again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ctxlib.figures import canvas, style, words
from ctxlib.parameters import count as whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

REASONS = {
    "none": ("no reason in the log", style.RED, ""),
    "compaction": ("compacted away", style.BLUE, "---"),
    "shell": ("a command named the file", style.OLIVE, "///"),
    "external": ("changed outside", style.CYAN, "xxx"),
}


def tool_shares(frame: pd.DataFrame, top: object = 10) -> pd.DataFrame:
    """What `plot_tools` draws, from tools_df: the `top` tools by tokens and the rest as one row: tool, server, calls,
    results, tokens (of results, by the constant), errors, share (of all result tokens, 0-1), errors_share (of its
    results, 0-1)."""
    most = whole(top, "top")
    ordered = frame.sort_values(["tokens", "tool"], ascending=[False, True], kind="stable")
    head, tail = ordered.head(most), ordered.iloc[most:]
    if len(tail):
        sums = {name: int(tail[name].sum()) for name in ("calls", "results", "tokens", "errors")}
        rest = pd.DataFrame([{"tool": words.count(len(tail), "other tool"), "server": "", **sums}])
        head = pd.concat([head, rest], ignore_index=True)
    total = max(1, int(frame["tokens"].sum()))
    out = head.assign(share=head["tokens"] / total, errors_share=head["errors"] / head["results"].clip(lower=1))
    return out[["tool", "server", "calls", "results", "tokens", "errors", "share", "errors_share"]].reset_index(
        drop=True
    )


def plot_tools(frame: pd.DataFrame, *, top: object = 10) -> Figure:
    """Result tokens by tool, and beside it how many of its results were errors (rows: `tool_shares`)."""
    drawn = tool_shares(frame, top)
    with canvas.styled():
        fig = canvas.figure(1.1 + 0.34 * max(4, len(drawn)))
        if drawn.empty:
            canvas.nothing(fig.subplots(), "Tools by tokens and errors")
            return fig
        left, right = fig.subplots(1, 2, width_ratios=(2.6, 1), sharey=True)
        look = style.look("tool_result")
        at = range(len(drawn))
        left.barh(at, drawn["tokens"], height=0.66, color=look.color, edgecolor=style.INK)
        for row, (tokens, share) in enumerate(zip(drawn["tokens"], drawn["share"], strict=True)):
            text = f"{words.percent(share)}  ·  {words.tokens(tokens)}"
            left.annotate(text, (tokens, row), xytext=(7, 0), textcoords="offset points", va="center")
        right.barh(at, drawn["errors_share"], height=0.66, color=style.RED, hatch="xxx", edgecolor=style.INK)
        for row, (errors, results) in enumerate(zip(drawn["errors"], drawn["results"], strict=True)):
            text = f"{errors:,} of {results:,}"
            spot = float(drawn["errors_share"].iloc[row])
            right.annotate(text, (spot, row), xytext=(6, 0), textcoords="offset points", va="center", fontsize=9)
        canvas.rows(left, [str(name) for name in drawn["tool"]])
        canvas.count_axis(left, "x", "tokens of results")
        left.set_xlim(0, max(1.0, float(drawn["tokens"].max()) * 1.3))
        right.tick_params(axis="y", length=0)
        right.grid(axis="y", visible=False)
        right.grid(axis="x", visible=True)
        right.set_xlim(0, max(0.05, float(drawn["errors_share"].max()) * 1.75))
        right.xaxis.set_major_locator(canvas.few(4))
        right.xaxis.set_major_formatter(lambda share, _: words.percent(share))
        right.set_xlabel("results that are errors")
        canvas.describe(left, f"Bars: {headline_tools(frame)}")
        canvas.describe(
            right, f"Bars: {int(drawn['errors'].sum())} of {int(drawn['results'].sum())} results are errors."
        )
        return fig


def headline_tools(frame: pd.DataFrame) -> str:
    """Which tool returns most, and how many results fail."""
    total, results = int(frame["tokens"].sum()), int(frame["results"].sum())
    if not results:
        return canvas.sentence()
    first = canvas.each(tool_shares(frame))[0]
    failed = words.percent(int(frame["errors"].sum()) / results)
    return (
        f"{words.short(first.tool)} returned {words.percent(first.share)} of all result tokens ({words.tokens(first.tokens)} of"
        f" {words.tokens(total)}); {failed} of {words.count(results, 'result')} were errors."
    )


def reread_files(frame: pd.DataFrame, top: object = 10) -> pd.DataFrame:
    """What `plot_rereads` draws, from rereads_df: the `top` files by tokens read again: path, times, tokens, and the part
    of the tokens by reason: none, compaction, shell, external (the first that holds, in the order compaction,
    external, shell)."""
    reasoned = frame.assign(reason=reasons(frame))
    wide = reasoned.pivot_table(index="path", columns="reason", values="tokens", aggfunc="sum", fill_value=0)
    for name in REASONS:
        if name not in wide:
            wide[name] = 0
    out = wide[list(REASONS)].assign(tokens=wide[list(REASONS)].sum(axis=1), times=reasoned.groupby("path").size())
    out = out.reset_index().sort_values(["tokens", "path"], ascending=[False, True], kind="stable")
    return out.head(whole(top, "top")).reset_index(drop=True)


def reasons(frame: pd.DataFrame) -> pd.Series[str]:
    """Why each re-read happened, as far as the log shows."""
    out = pd.Series("none", index=frame.index, dtype=object)
    for flag in ("after_shell", "after_external", "after_compaction"):  # the later, the stronger
        out[frame[flag].astype(bool)] = flag.removeprefix("after_")
    return out


def by_reason(frame: pd.DataFrame) -> pd.DataFrame:
    """Re-reads by reason, for a table: reason, times, tokens."""
    grouped = frame.assign(reason=reasons(frame)).groupby("reason")["tokens"]
    out = pd.DataFrame({"times": grouped.size(), "tokens": grouped.sum()}).reset_index()
    out = out.sort_values("tokens", ascending=False, kind="stable")
    return out.assign(reason=[REASONS[name][0] for name in out["reason"]]).reset_index(drop=True)


def plot_rereads(frame: pd.DataFrame, *, top: object = 10, ax: Axes | None = None) -> Axes:
    """Tokens read again by file, apart by reason (rows: `reread_files`)."""
    drawn = reread_files(frame, top)
    with canvas.styled():
        ax = canvas.axes(ax, height=1.35 + 0.34 * max(3, len(drawn)))
        if drawn.empty:
            return canvas.nothing(ax, "Files read again")
        base = pd.Series(0.0, index=drawn.index)
        for name, (text, color, hatch) in REASONS.items():
            if drawn[name].sum():
                ax.barh(
                    range(len(drawn)), drawn[name], left=base, height=0.66, color=color, hatch=hatch, edgecolor=style.INK,
                    label=text,
                )  # fmt: skip
            base = base + drawn[name]
        for row, (tokens, times) in enumerate(zip(drawn["tokens"], drawn["times"], strict=True)):
            text = f"{words.tokens(tokens)}  ·  {words.count(times, 'time')}"
            ax.annotate(text, (tokens, row), xytext=(7, 0), textcoords="offset points", va="center")
        canvas.rows(ax, [str(name) for name in drawn["path"]])
        canvas.count_axis(ax, "x", "tokens read again")
        ax.set_xlim(0, max(1.0, float(drawn["tokens"].max()) * 1.25))
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, borderaxespad=0.2)
        return canvas.describe(ax, f"Bars: {headline_rereads(frame)}")


def headline_rereads(frame: pd.DataFrame) -> str:
    """How much was read again, and how much of it for no reason that the log shows."""
    if frame.empty:
        return "Nothing was read again unchanged in this window."
    plain = frame[reasons(frame) == "none"]
    total, avoidable = words.tokens(frame["tokens"].sum()), words.tokens(plain["tokens"].sum())
    return (
        f"{words.count(len(frame), 're-read')} of unchanged files put {total} tokens into the context again; {len(plain)} of"
        f" them ({avoidable} tokens) for no reason that the log shows."
    )


def advice_tools(frame: pd.DataFrame, rereads: pd.DataFrame) -> list[str]:
    """What to ask of tools. frame: tools_df, rereads: rereads_df."""
    drawn = tool_shares(frame)
    how = {
        "Bash": "cut output in the command (head, tail, grep, --quiet), write long output to a file and read the lines needed",
        "Read": "read ranges (offset and limit) of large files, and search first",
        "Grep": "ask for file names or counts first, and limit the lines",
        "Task": "ask the sub-agent for a short answer",
        "Agent": "ask the sub-agent for a short answer",
    }
    out = []
    for item in canvas.each(drawn.head(2)):
        each = item.tokens / max(1, item.results)
        if not item.results:
            continue
        out.append(
            f"{words.short(item.tool)}: {words.tokens(each)} tokens a result;"
            f" {how.get(item.tool, 'ask it for less at a time')}."
        )
    failing = (
        drawn[(drawn["errors"] >= 5) & (drawn["errors_share"] >= 0.05)].sort_values("errors", ascending=False).head(1)
    )
    for item in canvas.each(failing):
        out.append(
            f"{words.short(item.tool)} fails in {words.percent(item.errors_share)} of its results: note in CLAUDE.md"
            " how it is to be called here (commands that exist, paths, flags)."
        )
    plain = rereads[reasons(rereads) == "none"] if len(rereads) else rereads
    if len(plain):
        most = plain.groupby("path")["tokens"].sum().sort_values(ascending=False, kind="stable")
        out.append(
            f"{words.short(most.index[0])} was read again unchanged for {words.tokens(most.iloc[0])} tokens: its content was"
            " still in the context; say so, or note in CLAUDE.md what the file holds."
        )
    return out

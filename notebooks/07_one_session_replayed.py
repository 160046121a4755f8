# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # What happened in this session?

# %% tags=["parameters"]
root = ""
since = ""
until = ""
project = ""
session = ""
turn = ""
top = "10"
mask = ""

# %%
import ctxlib as ctx
from ctxlib import figures

logs = ctx.open_logs(root, since, until, project, top=top, mask=mask)
chosen = figures.pick(ctx.sessions_df(logs), session)

# %%
turns = figures.thread(ctx.kinds_df(logs), chosen)
call = figures.at_turn(turns, turn)
at = figures.chosen_turn(call)

# %% tags=["headline"]
print(figures.headline_categories(turns))

# %%
spend = ctx.spend_df(logs)
figures.show(figures.plot_replay(turns, spend, compactions=ctx.regrowth_df(logs), turn=at))

# %%
figures.say(figures.headline_paid(spend, chosen))

# %%
paid = figures.turns_paid(spend, chosen).sort_values(["usd", "turn"], ascending=[False, True])
figures.table(paid, "turn ts gap_min read_usd write_5m_usd write_1h_usd output_usd usd", top=top)

# %% [markdown]
# ## The same, to look at closely

# %%
figures.show(figures.explore_replay(turns))

# %% [markdown]
# ## What the context holds at one turn
#
# The turn with the largest context, or the one named by `turn`.

# %%
held = ctx.residents_df(logs, chosen, at or None)
figures.say(figures.headline_residents(held))

# %%
figures.show(figures.plot_residents(held, top=top))

# %%
figures.show(figures.explore_residents(held))

# %%
figures.table(held, "category kind tool path blocks tokens since measured", top=top)

# %% [markdown]
# ## What to do about it

# %%
figures.points(figures.advice_breakdown(call))

# %% [markdown]
# ## How it is measured
#
# - **The session** is the one with the largest peak, or the one whose id begins with `session`. Turns are the calls
#   of its main thread, from 1; sub-agents have contexts of their own.
# - **What a turn carries**: every block of the log from the first call that sends it to the one that no longer does
#   (compaction, microcompaction, rewind). Tokens sum exactly to the provider's total of that call; *measured* is the
#   share that rises measured.
# - **What a turn paid** is at list prices. Calls that a fork or a resume copied were paid where they were made.
# - **Other (estimated)** is the total less all blocks: mostly the system prompt and the tools, which no log holds.

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
# # Where does the context go?

# %% tags=["parameters"]
root = ""
since = ""
until = ""
project = ""
session = ""
top = "10"
mask = ""

# %%
import ctxlib as ctx
from ctxlib import figures

logs = ctx.open_logs(root, since, until, project, top=top, mask=mask)
parts = ctx.kinds_df(logs)

# %% tags=["headline"]
print(figures.headline_shares(parts))

# %%
figures.show(figures.plot_shares(parts))

# %%
figures.table(figures.shares(parts), "category shown share share_p10 share_p90 sessions")

# %% [markdown]
# ## One session, turn by turn
#
# The session with the largest peak, or the one named by `session`. A stack can only be judged at its bottom and its top, so
# each part stands alone beside it, all on one scale.

# %%
chosen = figures.pick(ctx.sessions_df(logs), session)
turns = figures.thread(parts, chosen)
figures.say(figures.headline_categories(turns))

# %%
figures.show(figures.plot_categories_each(turns, compactions=ctx.regrowth_df(logs)))

# %% [markdown]
# ## One call in full: its largest

# %%
call = figures.at_turn(turns)
figures.show(figures.plot_breakdown(call))

# %%
figures.table(figures.breakdown(call), "category shown share method")

# %% [markdown]
# ## What other holds

# %%
figures.say(figures.headline_unexplained(parts))

# %%
figures.table(figures.unexplained(parts), "session project model total other at_start arrived", top=top)

# %% [markdown]
# ## What to do about it

# %%
figures.points(figures.advice_shares(parts))

# %%
figures.table(ctx.rent_df(logs), "session project kind tool path tokens calls rent usd", top=top)

# %% [markdown]
# Rent is what a part costs as long as it stays: its tokens times the calls that carried it, and that in USD at cache-read
# prices. It ranks what is worth removing; size alone does not.
#
# ## How it is measured
#
# - **Totals are measured**: input, cache reads and cache writes of each response (X-ctx). Every bar and every column of the
#   stack sums exactly to the provider's total.
# - **Messages are shared out by rises** (`delta`): between two calls the context grows by what was appended, so each rise is
#   shared over its blocks. What opens a session or follows a compaction has no rise: an `estimate` by characters a token.
# - **Counted** is what a `/context` output in the log says of system prompt, tools, memory and agents.
# - **Other (estimated)** is the total less all of that: mostly the system prompt and the tools, which no log holds.

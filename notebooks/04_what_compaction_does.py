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
# # What does compaction do?

# %% tags=["parameters"]
root = ""
since = ""
until = ""
project = ""
top = "10"
mask = ""

# %%
import ctxlib as ctx
from ctxlib import figures

logs = ctx.open_logs(root, since, until, project, top=top, mask=mask)
compactions = ctx.compactions_df(logs)

# %% tags=["headline"]
print(figures.headline_compactions(compactions))

# %%
figures.show(figures.plot_compactions(compactions))

# %%
names = "ts session project kind trigger ctx_before ctx_after before after"
figures.table(compactions, names, top=top)

# %% [markdown]
# ## How it grows back

# %%
growth = ctx.regrowth_curves_df(logs)
figures.say(figures.headline_regrowth(growth))

# %%
figures.show(figures.plot_regrowth(growth))

# %%
after = ctx.regrowth_df(logs)
figures.table(after, "ts session project ctx_before ctx_after calls back written usd reread", top=top)

# %% [markdown]
# ## What to do about it

# %%
figures.points(figures.advice_compactions(compactions, after))

# %% [markdown]
# ## How it is measured
#
# - **Before and after are measured**: the calls of the same thread just before and just after (X-compact). A compaction
#   without a measured call on one side is in the table, but not in the figure.
# - **The log's own figures** (`preTokens`, `postTokens`) are metadata: `postTokens` leaves out system prompt and tools, so it
#   is a mark beside the dumbbell and never its end. Microcompactions take out tool results only and are listed apart.
# - **Growth** is followed call by call until the next compaction or the end of the session; a compaction is used up when the
#   context is at 80 % of its size before.
# - **Cost**: tokens that the next call wrote to the cache, at list prices; **read again** are re-reads of what the compaction
#   had taken away (X-reread), by the constant of four characters a token.

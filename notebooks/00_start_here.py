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
# # What do the logs hold?

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
spend = ctx.spend_df(logs)

# %% tags=["headline"]
print(figures.headline_activity(spend))

# %%
figures.show(figures.plot_activity(spend))

# %% [markdown]
# ## The window in a few numbers

# %%
detail = ctx.detail(logs)
figures.facts(figures.numbers(detail))

# %% [markdown]
# ## What to do about it
#
# The order is by the tokens at stake; each has a page of its own.

# %%
figures.points(figures.advice(ctx.findings_df(logs), top=top))

# %% [markdown]
# ## What was read, and what was skipped
#
# Nothing is left out silently: every file and line that could not be used has its cause here.

# %%
figures.facts(figures.reading(detail))

# %%
figures.table(figures.causes(ctx.notes_df(logs)), "cause times files file line", top=top)

# %% [markdown]
# ## How it is measured
#
# - **A call** is one request, counted once over all files: forks, resumes and copies repeat history, and so do the
#   several lines that one answer is written as (R-claude-dedup).
# - **A session** counts when its main thread has a call in the window; sub-agents belong to their session.
# - **USD** are list prices of the day and of the size of each call (genai-prices, offline): what an API would charge,
#   not what a subscription costs.
# - **The window** is `since` to `until`; empty is everything for the sample logs, else the last 30 days.

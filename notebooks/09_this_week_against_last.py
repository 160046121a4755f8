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
# # What changed this week?

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
end = logs.span.texts()[1]

# %% tags=["headline"]
print(figures.headline_trend(spend, end))

# %%
figures.show(figures.plot_trend(spend, end, by="project", top=top))

# %%
figures.compare(spend, end)

# %% [markdown]
# ## By model

# %%
figures.show(figures.plot_trend(spend, end, by="model", top=top))

# %% [markdown]
# ## By project, in numbers

# %%
columns = "name last_sessions this_sessions last_tokens this_tokens last_usd this_usd change"
figures.table(figures.pairs(spend, end, by="project", top=top), columns)

# %% [markdown]
# ## By machine
#
# No log names its machine: each root that was read stands for one.

# %%
figures.table(figures.pairs(spend, end, by="machine", top=top), columns)

# %% [markdown]
# ## What to do about it

# %%
figures.points(figures.advice_trend(spend, end))

# %% [markdown]
# ## How it is measured
#
# - **This week** is the seven days (UTC) up to `until`, or up to the end of the day of the last call in the logs;
#   **the week before** is the seven days before that. Nothing depends on the day on which the page is made.
# - **Tokens are measured**, each call once; **USD** are list prices of the day. A session counts in each week in
#   which its main thread made a call.
# - With `since` later than two weeks before the end, the week before is cut short.

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
# # What does the cache save, and what does it cost?

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
print(figures.headline_cache(spend))

# %%
figures.show(figures.plot_cache(spend))

# %%
columns = "label tokens read_share write_5m_share write_1h_share uncached_share"
figures.table(figures.cache_shares(spend), columns)

# %% [markdown]
# ## Cost by kind

# %%
figures.say(figures.headline_cost(spend))

# %%
figures.show(figures.plot_cost(spend))

# %% [markdown]
# ## Prefixes written again
#
# A call that finds its prefix in the cache pays a tenth of the input price for it; one that does not writes it again,
# at 1.25 times (5 minutes) or twice (1 hour) the input price.

# %%
rebuilds = ctx.rebuilds_df(logs)
figures.say(figures.headline_rebuilds(rebuilds))

# %%
figures.show(figures.plot_rebuilds(rebuilds))

# %%
dearest = rebuilds.sort_values(["usd", "tokens"], ascending=False)
columns = "ts session project model turn tokens gap_min usd cause"
figures.table(dearest, columns, top=top)

# %% [markdown]
# ## What to do about it

# %%
figures.points(figures.advice_cache(spend, rebuilds))

# %% [markdown]
# ## How it is measured
#
# - **Tokens are measured**: each call's own usage, main threads and sub-agents, every call once (X-cache).
# - **USD are list prices**: 5-minute writes at 1.25 times and 1-hour writes at twice the input price, reads at a
#   tenth; above 200k the premium where the list has one. A model without a price is listed on the first page and
#   never counted as free.
# - **A rebuild** is a call that lost at least 5,000 tokens and half of what the call before it in its thread had
#   cached, and wrote them again. Its cost is that of writing them less that of reading them.
# - **Causes**: what the log says itself (`cache_miss_reason`); else a compaction, a change of model, a pause longer
#   than the cache lives, a rewind, in this order; else unknown.

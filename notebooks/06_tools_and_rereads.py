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
# # Which tools fill the context, and what is read again?

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
tools = ctx.tools_df(logs)

# %% tags=["headline"]
print(figures.headline_tools(tools))

# %%
figures.show(figures.plot_tools(tools, top=top))

# %%
figures.table(figures.tool_shares(tools, top), "tool server calls results tokens share errors errors_share")

# %% [markdown]
# ## Read again, unchanged

# %%
again = ctx.rereads_df(logs)
figures.say(figures.headline_rereads(again))

# %%
figures.show(figures.plot_rereads(again, top=top))

# %%
figures.table(figures.by_reason(again), "reason times tokens")

# %%
figures.table(figures.reread_files(again, top), "path times tokens none compaction shell external")

# %% [markdown]
# ## What to do about it

# %%
figures.points(figures.advice_tools(tools, again))

# %% [markdown]
# ## How it is measured
#
# - **Tokens of results are counted** by the constant: characters / 4, rounded up, and 1,500 an image (X-size,
#   X-tools). Real tool results take a third to a half more; notebook 08 shows by how much for each model. Shares hold
#   either way.
# - **An error** is a result that the log marks as one.
# - **A re-read** is a Read of the same path and range that the thread has read before, with no successful edit in
#   between (X-reread). It has a reason where the content had been compacted away, where a command named the file, or
#   where the log says that it changed outside; the first of these in the order compacted, outside, command is
#   counted.

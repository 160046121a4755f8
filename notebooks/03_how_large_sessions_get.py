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
# # How large do sessions get?

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
sessions = ctx.sessions_df(logs)

# %% tags=["headline"]
print(figures.headline_sizes(sessions))

# %%
figures.show(figures.plot_sizes(sessions))

# %%
figures.table(figures.largest(sessions), "session project model peak_ctx peak_turn peak_pct window window_source", top=top)

# %% [markdown]
# ## By project and by model

# %%
figures.show(figures.plot_sizes_by(sessions, by="project", top=top))

# %%
figures.show(figures.plot_sizes_by(sessions, by="model", top=top))

# %%
columns = "model sessions median p90 peak_ctx over_150k over_250k"
figures.table(figures.peaks_by(sessions, "model", 100), columns, top=top)

# %% [markdown]
# ## What the large ones weigh

# %%
curves = ctx.curves_df(logs)
figures.table(figures.weight(curves), "what calls share tokens tokens_share")

# %% [markdown]
# ## What to do about it

# %%
figures.points(figures.advice_sizes(sessions, curves))

# %% [markdown]
# ## How it is measured
#
# - **A peak is measured**: the largest context (input, cache reads and writes) of any call of the session's main
#   thread, on the full curve (X-peak). Sessions without a measured call are left out.
# - **150k and 250k** are the thresholds of the rules; a session passes one when its peak reaches it.
# - **The window is inferred** for each model; where the table shows none, nothing in the logs or the list says it.
# - A session counts under the model of its last call.

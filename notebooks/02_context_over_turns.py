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
# # How does the context grow over turns?

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
curves = ctx.curves_df(logs)

# %% tags=["headline"]
print(figures.headline_curves(curves))

# %%
figures.show(figures.plot_curves(curves))

# %%
figures.table(figures.milestones(curves), "turn sessions median p10 p90")

# %% [markdown]
# ## Apart for projects and models

# %%
figures.show(figures.plot_curves_by(curves, by="project"))

# %%
figures.show(figures.plot_curves_by(curves, by="model"))

# %% [markdown]
# ## As a share of the window

# %%
figures.say(figures.headline_curves(curves, value="pct"))

# %%
figures.show(figures.plot_curves(curves, value="pct"))

# %% [markdown]
# ## The largest sessions, to look at closely

# %%
figures.show(figures.explore_curves(curves, top=top))

# %%
columns = "session project model calls peak_ctx peak_turn peak_pct"
figures.table(figures.largest(ctx.sessions_df(logs)), columns, top=top)

# %% [markdown]
# ## What to do about it

# %%
figures.points(figures.advice_curves(curves))

# %% [markdown]
# ## How it is measured
#
# - **Context of a call is measured**: input, cache reads and cache writes of its response (X-ctx); never thinned, in log
#   order. A turn is a measured call of the session's main thread; sub-agents have contexts of their own.
# - **The median** at a turn is over the sessions that reached it, and ends where fewer than five are left (a third of them
#   where there are less than fifteen). Sessions that end early leave it, so it is no session's own course.
# - **The window is inferred**, one per model: `/context` outputs, `[1m]` in a model's name, the size before an automatic
#   compaction, a context beyond 200k, else the list (genai-prices). Tokens are what to trust; the share follows.

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
# # Is the accounting right?

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
drift = ctx.drift_df(logs)

# %% tags=["headline"]
print(figures.headline_drift(drift))

# %%
figures.show(figures.plot_drift(drift))

# %%
figures.table(figures.drifts(drift), "way epochs median_share p90_share")

# %% [markdown]
# ## The epochs that drift most

# %%
worst = drift.assign(size=drift["delta"].abs()).sort_values(["size", "growth"], ascending=False)
figures.table(worst, "session thread model calls growth constant fit delta injected", top=top)

# %% [markdown]
# ## What must hold at every call

# %%
parts = ctx.snapshots_df(logs)
figures.say(figures.headline_checks(parts))

# %%
figures.table(figures.checks(parts), "what times calls")

# %% [markdown]
# ## Characters a token

# %%
fits = ctx.fits_df(logs)
figures.say(figures.headline_fits(fits))

# %%
figures.show(figures.plot_fits(fits))

# %%
figures.table(fits, "model chars_per_token p10 p90 n source", p10=figures.ratio, p90=figures.ratio)

# %% [markdown]
# ## Against /context

# %%
truths = ctx.truths_df(logs)
figures.say(figures.headline_truths(truths))

# %%
figures.table(figures.distances(truths), "session counted_total ctx_before ctx_after off", top=top)

# %% [markdown]
# ## What to do about it

# %%
figures.points(figures.advice_calibration(fits, truths))

# %% [markdown]
# ## How it is measured
#
# - **Drift**: what opens an epoch (from a start, a compaction or a change of model to the next) stays as it is, so a
#   way that sizes the messages rightly leaves other constant; what other drifts by is the error of the way. Epochs
#   that grew by less than 2,000 tokens are left out.
# - **Four characters a token** and **fitted characters a token** size each block from its text. **Rises between
#   calls** shares what the provider measured over the blocks that came with it: it drifts only where the context
#   falls without a boundary.
# - **The fit** is the median over rises that consist of one tool result, for each model; with fewer than 12 the
#   shipped table stands in (hollow).
# - **/context** counts its categories by itself and rounds; its total is compared with the provider's own of the call
#   before.

"""The rules: tables -> tables and frames, pure. One module a rule; each `*_df` is the same thing as a DataFrame."""

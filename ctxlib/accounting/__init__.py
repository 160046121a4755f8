"""The measurement contract: one snapshot, at any call of any session (accounting.md)."""

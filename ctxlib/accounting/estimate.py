"""Tokens of a block before anything is measured: by the constant, and by a model's characters per token."""

from __future__ import annotations

import numpy as np

from ctxlib.rules.tools import IMAGE_TOKENS, constant_tokens
from ctxlib.tables import BlockKind, Category, Table

# Medians over single tool results of real logs (n >= 20 a model, p10-p90 2.1-3.4): formats.md, 1.6.
OLDER, NEWER = 2.7, 2.3
_NEWER = ("claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-fable-5", "claude-sonnet-5")
_LISTED = (Category.SKILLS, Category.MEMORY, Category.AGENTS, Category.MCP_TOOLS, Category.DEFERRED, Category.TOOLS)


def default_chars_per_token(model: str) -> float:
    """Characters of a tool result a token, for a canonical model name: the table for models with too few rises to fit."""
    return NEWER if model.startswith(_NEWER) else OLDER


def raw(blocks: Table) -> Table:
    """Tokens by the constants, with images by their size where it is known (the contract's raw estimate)."""
    known = blocks["images"] - blocks["unsized_images"]
    tokens: Table = constant_tokens(blocks) - IMAGE_TOKENS * known + blocks["image_tokens"]
    return tokens


def fitted(blocks: Table, chars_per_token: Table) -> Table:
    """Tokens (float) of each block by the characters per token of its model; a document has none.

    Listings (skills, agents, memory, names of deferred tools) are prose sent once in the prefix, where no rise measures
    them: they keep the constant. A thinking block counts its visible text here; what is hidden only a rise tells.
    """
    images = blocks["image_tokens"] + IMAGE_TOKENS * blocks["unsized_images"].astype("f8")
    listed = np.isin(blocks["category"], _LISTED)
    return np.where(listed, raw(blocks), blocks["chars"] / chars_per_token + images)


def is_answer(blocks: Table) -> Table:
    """Blocks that the model wrote: their tokens are its output."""
    return np.isin(blocks["kind"], (BlockKind.ASSISTANT_TEXT, BlockKind.THINKING, BlockKind.TOOL_INPUT))

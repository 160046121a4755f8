"""The warnings that come with what a source told: a code, and its sentence, which never repeats content."""

from __future__ import annotations

from ctxlib.accounting.contract import Warned

# They are about the estimate, and say nothing once the total is the provider's (formats.md, section 7).
OF_ESTIMATE = (
    "local_token_estimate",
    "media_token_estimate",
    "opaque_context_estimate",
    "provider_options_estimate",
)
_MESSAGES = {
    "local_token_estimate": "The total is the source's own estimate.",
    "media_token_estimate": "Images and documents are sized by their bytes.",
    "opaque_context_estimate": "Parts that the source cannot read are sized by their bytes.",
    "provider_options_estimate": "Provider options are sized by their bytes.",
    "token_count_warning": "The source warned of its count.",
    "activated_skill_context_counted_as_conversation": "Activated skills are counted as conversation.",
    "provider_token_count_unavailable": "The provider's count was not to be had: the estimate stays.",
    "provider_token_count_unsupported": "The provider has no count: the estimate stays.",
    "provider_token_count_failed": "The provider's count failed: the estimate stays.",
    "estimate_missing": "The newest message brought no snapshot: this is the one before.",
    "cache_writes_added": "{tokens} tokens written to the cache are part of the total; the source leaves them out of its own.",
    "turn_sum_not_used": "The turn's tokens are a sum over several calls, not the size of a context: the total is an estimate.",
    "model_switched": "The model has changed since the last measurement: the total is an estimate until its first usage.",
    "compacted_since": "The history was compacted after the last measurement: the total is an estimate.",
    "head_not_found": "The head of the session is no node of its history: nothing can be said of its branch.",
    "tools_not_recorded": "No tool set was recorded on this branch: tools are in other.",
    "tool_snapshot_unreadable": "The newest tool set cannot be read: an earlier one, if there is one, is taken.",
}


def warned(code: str, tokens: int = 0) -> Warned:
    """The warning of a code; `tokens`: what it is about, where it is about a number."""
    return Warned(code, _MESSAGES.get(code, "The source warned of its figures.").format(tokens=f"{tokens:,}"))

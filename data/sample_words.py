"""Word lists and sentence templates of the three invented projects."""

from __future__ import annotations

WORDS: dict[str, dict[str, list[str]]] = {
    "tidepool-api": {
        "noun": [
            "station",
            "reading",
            "gauge",
            "buoy",
            "tide_table",
            "alert",
            "datum",
            "forecast",
            "quota",
            "harbour",
            "sensor",
            "window",
        ],
        "verb": [
            "load",
            "merge",
            "resample",
            "validate",
            "publish",
            "interpolate",
            "backfill",
            "throttle",
            "rank",
            "expire",
        ],
        "dir": ["app/api", "app/models", "app/services", "app/jobs", "app/storage", "tests"],
        "topic": [
            "the hourly resampling job",
            "the alert rules",
            "quota headers",
            "the gauge import",
            "the forecast cache",
            "pagination of readings",
        ],
    },
    "lantern-web": {
        "noun": [
            "scene",
            "lamp",
            "palette",
            "canvas",
            "layer",
            "preset",
            "toolbar",
            "shortcut",
            "panel",
            "snapshot",
            "gradient",
            "session",
        ],
        "verb": [
            "render",
            "toggle",
            "select",
            "debounce",
            "restore",
            "measure",
            "animate",
            "commit",
            "group",
            "hydrate",
        ],
        "dir": ["src/components", "src/hooks", "src/state", "src/lib", "src/pages", "src/styles"],
        "topic": [
            "the preset drawer",
            "keyboard focus in the toolbar",
            "undo of grouped layers",
            "the colour picker",
            "dark mode of the panel",
            "loading of scenes",
        ],
    },
    "quarry-etl": {
        "noun": [
            "batch",
            "shard",
            "manifest",
            "loader",
            "partition",
            "ledger",
            "snapshot",
            "extract",
            "checksum",
            "cursor",
            "schema",
            "bucket",
        ],
        "verb": ["ingest", "compact", "reconcile", "stage", "dedupe", "split", "verify", "retry", "flush", "archive"],
        "dir": ["quarry/loaders", "quarry/steps", "quarry/io", "quarry/checks", "sql/marts", "tests/unit"],
        "topic": [
            "late partitions",
            "the nightly ledger load",
            "duplicate rows after a retry",
            "the manifest checksum",
            "slow shards",
            "the schema drift check",
        ],
    },
}
ADJECTIVES = [
    "stale",
    "partial",
    "empty",
    "merged",
    "late",
    "pending",
    "sorted",
    "spare",
    "nested",
    "fresh",
    "narrow",
    "closed",
]
TYPES = ["str", "int", "float", "bool", "datetime", "list[str]", "dict[str, int]", "Path", "tuple[int, int]"]
OPENERS = [
    "Can you look at {topic}?",
    "Something is off with {topic}: the second {noun} of a day is dropped.",
    "Please {verb} the {noun} before the {noun2} is written, and add a test for it.",
    "Next: {topic}. Keep the public names as they are.",
    "The check for {adj} {noun} values fails on my branch since this morning.",
    "Let us finish {topic}. Start with the tests that exist.",
    "Why does `{verb}_{noun}` run twice for every {noun2}?",
    "Good. Now do the same for the {noun2} code path.",
]
FOLLOW = [
    "I would rather have one clear error than a silent {adj} {noun}.",
    "The {noun2} side is used by two other modules, so do not change its signature.",
    "Run the tests for that folder only, the full run takes too long.",
    "There is a note about it in the docs folder.",
    "If it needs a migration, stop and tell me first.",
    "A {adj} {noun} is fine as long as the {noun2} says so.",
]
ANSWERS = [
    "I'll start with the {noun} module and see who calls `{verb}_{noun}`.",
    "The {noun} is built twice: once in the job and once when the {noun2} is read.",
    "That explains the {adj} {noun2}: the guard compares before the {noun} is sorted.",
    "Now the tests. Two of them pin the old behaviour for a {adj} {noun}.",
    "Tests pass. Let me check the callers of the {noun2} as well.",
    "The failure comes from the {noun2} fixture, not from the change itself.",
    "I'll keep the signature and move the check into `{verb}_{noun2}`.",
]
DOCS = [
    "A {adj} {noun} is never written to the {noun2}; the job waits for the next run instead.",
    "`{verb}_{noun}` is the only place that may change a {noun2}.",
    "Every {noun} has one owner. When two jobs want it, the older one keeps it.",
    "Names of a {noun} are lower case with underscores, also in the {noun2}.",
    "Tests that need a {noun} take it from the `{adj}_{noun}` fixture.",
    "The {noun2} is read-only outside of `{verb}_{noun2}`.",
    "To {verb} a {noun} by hand, stop the {noun2} job first and start it again afterwards.",
    "Errors name the {noun} and the {noun2} they came from; a bare message is not enough.",
    "The {adj} state exists for at most one run, then the {noun} is either kept or dropped.",
]

AGENTS = {
    "Explore": "Fast look through a code base: finds files by pattern, searches for names, answers where something is "
    "done. Say how thorough it should be. (Tools: Read, Grep, Glob, Bash)",
    "Plan": "Reads what is needed and returns a plan of small steps with the files each one touches. Changes nothing. "
    "(Tools: Read, Grep, Glob)",
    "general-purpose": "Works on a task of several steps by itself and reports at the end. (Tools: *)",
}
REVIEWER = (
    "Reads a diff against the rules in docs/notes.md and lists what breaks them, with file and line. Use it before "
    "every commit. (Tools: Read, Grep, Bash)"
)
SKILLS = {
    "release-notes": "Collect what changed since the last tag and write the notes in the house form. Use when the "
    "person asks for notes, a changelog or a summary of a release.",
    "test-triage": "Group failing tests by cause, rerun each group alone and report which failures are new. Use when "
    "more than one test fails or a run is flaky.",
    "schema-review": "Check a change of tables or payloads against the compatibility rules: no renamed field, no "
    "narrowed type, a default for what is new.",
    "commit-message": "Write the message of a commit from the staged diff: one line of what, then why, then what was "
    "left out on purpose. Use before every commit unless the person gives the text.",
    "dependency-update": "Raise one dependency at a time, run the tests of what imports it, and note what its list of "
    "changes says about renamed or removed names. Use when asked to update packages.",
    "incident-notes": "Keep a timeline while something is broken: what was seen, when, by whom, what was tried. Use as "
    "soon as the person speaks of an outage, an alert or a rollback.",
    "query-plan": "Explain why a query is slow: print its plan, name the step that reads most rows and propose an index "
    "or a narrower window. Never run it against production.",
    "screenshots": "Take pictures of a page in four sizes and compare them with the stored ones. Use after any change "
    "of layout, spacing or colour.",
}
# Tools of an MCP server: those in the prefix, and those that ToolSearch has to load.
MCP_LOADED = ("search", "get_page", "create_page", "update_page", "list_cards", "add_comment", "get_history", "query")
MCP_DEFERRED = ("move_card", "export_page", "bulk_update")
COMMANDS = {
    "tidepool-api": [
        "pytest -q tests",
        "git diff --stat",
        "git log --oneline -12",
        "ls -la app/jobs",
        "tail -n 40 var/log/app.log",
        "make lint",
    ],
    "lantern-web": [
        "npx vitest run src/state",
        "git diff",
        "npm run build",
        "ls src/components",
        "npx tsc --noEmit",
        "git log --oneline -8",
    ],
    "quarry-etl": [
        "pytest -q tests/unit",
        "git diff quarry/steps",
        "find sql -name '*.sql'",
        "python -m quarry.run --dry",
        "tail -n 60 run.log",
        "git log --oneline -20",
    ],
}

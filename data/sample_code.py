"""Invented source files in three languages, from word lists and templates."""

from __future__ import annotations

import random

from sample_words import ADJECTIVES, TYPES, WORDS


class Code:
    """Words of one project, filled into templates by the generator it was given."""

    def __init__(self, r: random.Random, project: str) -> None:
        self.r = r
        self.words = WORDS[project]
        self.project = project

    def noun(self) -> str:
        """A noun of the project's domain."""
        return self.r.choice(self.words["noun"])

    def verb(self) -> str:
        """A verb of the project's domain."""
        return self.r.choice(self.words["verb"])

    def fill(self, template: str) -> str:
        """Replace the placeholders of a template."""
        return template.format(
            noun=self.noun(),
            noun2=self.noun(),
            verb=self.verb(),
            adj=self.r.choice(ADJECTIVES),
            topic=self.r.choice(self.words["topic"]),
        )

    def python(self, lines: int) -> list[str]:
        """A Python module of about that many lines."""
        n, v = self.noun(), self.verb()
        out = [
            f'"""{v.title()} every {n} of a run."""',
            "",
            "from __future__ import annotations",
            "",
            "import logging",
            "from dataclasses import dataclass",
            "from datetime import datetime",
            "from pathlib import Path",
            "",
            f"from {self.project.split('-')[0]}.core import {n.title().replace('_', '')}, {self.noun()}_registry",
            "",
            "log = logging.getLogger(__name__)",
            f"{n.upper()}_LIMIT = {self.r.randrange(4, 900)}",
            "",
        ]
        while len(out) < lines:
            out += ["", *(self._py_class() if self.r.random() < 0.2 else self._py_function())]
        return out[:lines]

    def _py_class(self) -> list[str]:
        n = self.noun().title().replace("_", "")
        fields = [
            f"    {self.r.choice(ADJECTIVES)}_{self.noun()}: {self.r.choice(TYPES)}"
            for _ in range(self.r.randrange(2, 6))
        ]
        return [
            "@dataclass(slots=True)",
            f"class {n}{self.r.choice(['Spec', 'State', 'Row', 'Plan'])}:",
            f'    """One {self.noun()} as it is kept in the {self.noun()}."""',
            "",
            *fields,
        ]

    def _py_function(self) -> list[str]:
        a, b, v, adj = self.noun(), self.noun(), self.verb(), self.r.choice(ADJECTIVES)
        kind, result = self.r.choice(TYPES), a.title().replace("_", "")
        out = [
            f"def {v}_{a}({b}: {kind}, limit: int = {self.r.randrange(2, 99)}) -> list[{result}]:",
            f'    """{v.title()} the {a} of a {adj} {b}."""',
            f"    {adj} = []",
        ]
        for _ in range(self.r.randrange(1, 5)):
            c, d, w = self.noun(), self.noun(), self.verb()
            out += self.r.choice(
                [
                    [
                        f"    for {c} in {w}_{d}({b}):",
                        f"        if {c}.{adj} is None:",
                        "            continue",
                        f"        {adj}.append({c}.{d})",
                    ],
                    [f"    if not {b}:", f'        raise ValueError(f"no {c} in {{{b}!r}}")'],
                    [f"    {c} = {{item.{d}: item for item in {b} if item.{w}_at <= limit}}"],
                    [
                        "    try:",
                        f"        {c} = {w}_{d}({b}, timeout={self.r.randrange(1, 60)})",
                        "    except TimeoutError:",
                        f'        log.warning("{w} of %s timed out", {b})',
                        "        return []",
                    ],
                    [
                        f"    {c}_count = sum(1 for row in {adj} if row.{d} > {self.r.randrange(1, 400)})",
                        f'    log.info("%d {c} rows", {c}_count)',
                    ],
                ]
            )
        return [*out, f"    return {adj}[:limit]"]

    def typescript(self, lines: int) -> list[str]:
        """A TypeScript component or hook of about that many lines."""
        n = self.noun().title()
        out = [
            "import { useCallback, useEffect, useMemo, useState } from 'react';",
            f"import {{ {self.verb()}{n} }} from '../lib/{n.lower()}';",
            f"import type {{ {n}, {self.noun().title()}Id }} from '../state/types';",
            "",
        ]
        while len(out) < lines:
            a, b, v, adj = self.noun(), self.noun(), self.verb(), self.r.choice(ADJECTIVES)
            out += self.r.choice(
                [
                    [
                        f"export interface {a.title()}Props {{",
                        f"  {adj}{b.title()}: string;",
                        f"  on{v.title()}: (id: {a.title()}Id) => void;",
                        f"  limit?: {self.r.choice(['number', 'string', 'boolean'])};",
                        "}",
                        "",
                    ],
                    [
                        f"export function use{a.title()}(initial: {n}[]) {{",
                        f"  const [{adj}, set{adj.title()}] = useState(initial);",
                        f"  const {b} = useMemo(() => {adj}.filter((x) => x.{b} !== null), [{adj}]);",
                        "  useEffect(() => {",
                        f"    const off = {v}{n}({b}, (next) => set{adj.title()}(next));",
                        "    return () => off();",
                        f"  }}, [{b}]);",
                        f"  return {{ {adj}, {b} }};",
                        "}",
                        "",
                    ],
                    [
                        f"const {v}{a.title()} = useCallback((event: KeyboardEvent) => {{",
                        f"  if (event.key === '{self.r.choice(['Escape', 'Enter', 'Tab', 'z'])}') {{",
                        "    event.preventDefault();",
                        f"    dispatch({{ type: '{a}/{v}', at: {self.r.randrange(1, 90)} }});",
                        "  }",
                        "}, [dispatch]);",
                        "",
                    ],
                    [
                        f'<section className="{a} {a}--{adj}" aria-label="{b}">',
                        f"  {{{b}s.map((item) => (",
                        f"    <{a.title()}Row key={{item.id}} {adj}={{item.{adj}}} on{v.title()}={{on{v.title()}}} />",
                        "  ))}",
                        "</section>",
                        "",
                    ],
                ]
            )
        return out[:lines]

    def sql(self, lines: int) -> list[str]:
        """A mart definition in SQL."""
        out = [f"-- {self.noun()} per {self.noun()}, rebuilt every night", "with"]
        while len(out) < lines:
            a, b, c = self.noun(), self.noun(), self.noun()
            out += [
                f"{self.r.choice(ADJECTIVES)}_{a} as (",
                "    select",
                f"        {a}_id,",
                f"        max({b}_at) as last_{b}_at,",
                f"        count(*) filter (where {c} is not null) as {c}_rows",
                f"    from raw.{a}s",
                f"    where {b}_at >= current_date - interval '{self.r.randrange(1, 60)} days'",
                f"    group by {a}_id",
                "),",
            ]
        return out[:lines]

"""One set of cases and its store: how results are filed, and how they are looked up again, by key."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from assay.case import EXPLAIN, PREDICTION, CaseResult, Known, Work, suits
from assay.store import Store, explanation_key, record_key
from assay.types import BadInput, Example, Explanation, Record


def of_cases(store: Store, meta: Mapping[str, Any]) -> tuple[list[Record], list[Explanation]]:
    """Records and explanations of the cases that ``meta`` describes, and nothing of other data, versions or settings.

    The order is that of the data, whatever finished first: a resumed run gives the same tables to the last digit.
    """
    if "contents" not in meta:
        raise BadInput(f"{store.path} was written by an earlier Assay; run again with another --out")
    model, rule = meta["filed_model"], meta["rule"]
    names = list(_names(meta))
    where = {
        record_key(model, content, rule, *keys): (at, n, labels)
        for at, content in enumerate(meta["contents"])
        for n, (keys, labels) in enumerate(names)
    }
    maps = {
        explanation_key(model, content, rule, key): (at, n, label)
        for at, content in enumerate(meta["contents"])
        for n, (label, key) in enumerate(_keys(meta, "methods"))
    }
    made = sorted(((maps[f.key], f.explanation) for f in store.filed_explanations(keys=list(maps))), key=_place)
    explained = {(at, label) for (at, _, label), _ in made}
    found = sorted(((where[f.key], f.record) for f in store.filed_records(keys=list(where))), key=_place)
    records = [
        replace(r, example=meta["examples"][at], test=labels[1], method=labels[0], other=labels[2])
        for (at, _, labels), r in found
        if r.test != EXPLAIN or (at, labels[0]) not in explained  # a failure that a later run mended is no gap
    ]
    return [*_of_no_example(store, meta), *records], [_named(e, meta["examples"][at], m) for (at, _, m), e in made]


def _place(item: tuple[tuple[int, int, Any], Any]) -> tuple[int, int]:
    return item[0][:2]


def _keys(meta: Mapping[str, Any], kind: str) -> list[tuple[str, str]]:
    return [(label, facts["key"]) for label, facts in meta[kind].items()]


def _names(meta: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str, str], tuple[str, str, str]]]:
    """((method, test, other) keys, their labels) of every record that one example may have."""
    methods = _keys(meta, "methods")
    yield ("", PREDICTION, ""), ("", PREDICTION, "")
    yield from (((key, EXPLAIN, ""), (label, EXPLAIN, "")) for label, key in methods)
    for test, key in _keys(meta, "tests"):
        of = meta["tests"][test]["of"]
        if of == "input":
            yield ("", key, ""), ("", test, "")
        elif of == "explanation":
            yield from (((m, key, ""), (label, test, "")) for label, m in methods)
        elif of == "pair":
            yield from (((a, key, b), (one, test, two)) for (one, a), (two, b) in combinations(methods, 2))


def _of_no_example(store: Store, meta: Mapping[str, Any]) -> list[Record]:
    """What was said once for all examples: what does not apply, and why."""
    labels = {*meta["methods"], *meta["inapplicable"]}
    return [r for r in store.records(model=meta["filed"]) if not r.example and r.method in labels]


def _named(found: Explanation, name: str, method: str) -> Explanation:
    x = found.x
    return replace(found, x=replace(x, example=replace(x.example, id=name)), method=method)


@dataclass(frozen=True, eq=False, slots=True)
class Filing:
    """One set of cases and its place in a store: what is there, and how what is made gets filed."""

    store: Store
    work: Work

    @property
    def filed(self) -> str:
        """What everything of this node is filed under: the model and how examples are read."""
        return f"{self.model}|{self.work.rule}"

    @property
    def model(self) -> str:
        """The model's key; a nameless black box gets one of this process, so its results can never be resumed."""
        return self.work.model.fingerprint or f"nameless:{os.getpid()}:{id(self.work.model)}"

    def known(self, example: Example) -> Known:
        """What is there already, in two questions to the store; failures count as not there and are tried again."""
        content, rule = example.content, self.work.rule
        keys = {explanation_key(self.model, content, rule, m.key): m.key for m in self.work.methods}
        made = {keys[f.key]: f.explanation for f in self.store.filed_explanations(keys=list(keys))}
        wanted = {self._record_key(content, *names): names for names in self._names()}
        filed = self.store.filed_records(keys=list(wanted))
        done = {wanted[f.key] for f in filed if f.record.values is not None}
        return Known(made, lambda method, test, other: (method, test, other) in done)

    def _names(self) -> Iterator[tuple[str, str, str]]:
        """(method, test, other) of every record that one example may have."""
        yield "", PREDICTION, ""
        methods = [m.key for m in self.work.methods]
        for test in self.work.tests:
            pairs = {"input": [("", "")], "explanation": [(m, "") for m in methods], "pair": combinations(methods, 2)}
            yield from ((a, test.key, b) for a, b in pairs[test.entry.facts["of"]])

    def _record_key(self, content: str, method: str, test: str, other: str) -> str:
        return record_key(self.model, content, self.work.rule, method, test, other)

    def file(self, result: CaseResult) -> None:
        """File what one case made, in one transaction."""
        content, rule = result.example.content, self.work.rule
        explanations = [(explanation_key(self.model, content, rule, m), e) for m, e in result.explanations]
        records = [(self._record_key(content, f.method, f.test, f.other), f.record) for f in result.records]
        self.store.put(explanations, records, [result.example], self.filed)

    def inapplicable(self, reasons: Mapping[str, str]) -> None:
        """Methods and tests that the model cannot serve: told once."""
        rows = []
        for label, reason in reasons.items():
            key = record_key(self.model, "", self.work.rule, label, EXPLAIN)
            rows.append((key, Record(EXPLAIN, method=label, reason=reason)))
        self.store.put(records=rows, model=self.filed)

    def unsuited(self) -> None:
        """Tests that have nothing to say of a method: told once, not once per example."""
        rows = []
        for method in self.work.methods:
            for test in self.work.tests:
                reason = suits(test, method)
                if reason and test.entry.facts["of"] == "explanation":
                    key = record_key(self.model, "", self.work.rule, method.key, test.key)
                    rows.append((key, Record(test.label, method=method.label, reason=reason)))
        self.store.put(records=rows, model=self.filed)

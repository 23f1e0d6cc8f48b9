"""Plans: there and back through TOML, what makes two plans the same, and every complaint."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.plan import CasesNode, DataNode, ModelNode, Plan
from assay.types import BadInput

PLAN = Plan(
    (DataNode("test", "reviews.csv", "test", {"text": "body"}, ("no", "yes"), 100),),
    (ModelNode("main", "builtin"),),
    (CasesNode("audit", "main", "test", ("random", "lime(samples=9)"), ("deletion",), "yes", "word", ("context",)),),
    seed=3,
)


def test_there_and_back() -> None:
    assert Plan.from_toml(PLAN.to_toml()) == PLAN
    assert Plan.from_table(PLAN.to_table()) == PLAN


name = st.from_regex(r"[a-z][a-z0-9-]{0,6}", fullmatch=True)
text = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), min_size=1, max_size=10)


@given(
    st.dictionaries(name, st.builds(lambda r, s, n: (r, s, n), text, st.none() | text, st.none() | st.integers(1, 9)),
                    min_size=1, max_size=3),
    st.dictionaries(name, text, min_size=1, max_size=3),
    st.lists(text, min_size=1, max_size=3),
    st.integers(0, 2**31),
    st.data(),
)  # fmt: skip
def test_any_plan_there_and_back(data: dict, models: dict, methods: list[str], seed: int, draw: st.DataObject) -> None:
    case = CasesNode("c", draw.draw(st.sampled_from(sorted(models))), draw.draw(st.sampled_from(sorted(data))),
                     tuple(methods))  # fmt: skip
    plan = Plan(
        tuple(DataNode(n, r, s, limit=limit) for n, (r, s, limit) in data.items()),
        tuple(ModelNode(n, load) for n, load in models.items()),
        (case,),
        seed,
    )
    assert Plan.from_toml(plan.to_toml()) == plan
    assert Plan.from_toml(plan.to_toml()).key == plan.key


def test_a_limit_is_not_part_of_the_identity() -> None:
    (data,), (case,) = PLAN.data, PLAN.cases
    assert replace(PLAN, data=(replace(data, limit=5),)).key == PLAN.key
    others = [
        replace(PLAN, seed=4),
        replace(PLAN, data=(replace(data, read="other.csv"),)),
        replace(PLAN, models=(ModelNode("main", "else"),)),
        replace(PLAN, cases=(replace(case, methods=("random",)),)),
        replace(PLAN, cases=(replace(case, target="own"),)),
    ]
    assert len({p.key for p in [PLAN, *others]}) == 6


GOOD = """
[data.test]
read = "x.csv"
[model.main]
load = "builtin"
[cases.audit]
model = "main"
data = "test"
methods = ["random"]
"""


def test_the_shortest_plan() -> None:
    plan = Plan.from_toml(GOOD)
    assert plan.cases[0] == CasesNode("audit", "main", "test", ("random",))
    assert plan.seed == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[data.test]", "[data.test", "p.toml is not valid TOML"),
        ("[model.main]", "[modle.main]", "p.toml has no setting 'modle'; did you mean 'model'"),
        ('read = "x.csv"', 'reed = "x.csv"', r"p.toml: \[data.test\] has no setting 'reed'; did you mean 'read'"),
        ('read = "x.csv"', "", r"p.toml: \[data.test\] lacks 'read'"),
        ('model = "main"\ndata = "test"', "", r"p.toml: \[cases.audit\] lacks 'model' and 'data'"),
        ('model = "main"', 'model = "mian"', "cases 'audit' names model 'mian', .* did you mean 'main'"),
        ('data = "test"', 'data = "trial"', "cases 'audit' names data 'trial', which the plan does not have"),
        ('["random"]', "[]", "cases 'audit' names no method"),
        ("[data.test]", "seed = 1.5\n[data.test]", "seed must be a whole number, got 1.5"),
        ("[data.test]", "seed = true\n[data.test]", "seed must be a whole number, got True"),
        ('[model.main]\nload = "builtin"', "", r"p.toml has no \[model.NAME\] table"),
        ('[model.main]\nload = "builtin"', "[model]", r"p.toml has no \[model.NAME\] table"),
        ('[model.main]\nload = "builtin"', '[model]\nmain = "builtin"', r"\[model.main\] must be a table"),
        ('["random"]', '"random"', r"\[cases.audit\]: methods must be a list"),
        ("[model.main]", 'limit = "ten"\n[model.main]', r"\[data.test\]: limit must be a whole number"),
        ('load = "builtin"', "load = 3", r"\[model.main\]: load must be a text"),
    ],
)
def test_every_complaint_names_its_place(old: str, new: str, message: str) -> None:
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    with pytest.raises(BadInput, match=message) as caught:
        Plan.from_toml(text, "p.toml")
    assert "\n" not in str(caught.value)

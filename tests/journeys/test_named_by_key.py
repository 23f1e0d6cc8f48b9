"""Results belong to their data, model and settings: never mixed, never lost, the same after a stop."""

import json

import numpy as np
import pytest

import assay
from assay import api, resolve
from assay.plan import CasesNode, DataNode, ModelNode, Plan
from assay.results import Explanations
from assay.types import BadInput, Dataset, Example


def cases(*, data, methods=("leave-one-out",), tests=("deletion",)):
    return Plan(
        tuple(DataNode(n, str(p)) for n, p in data.items()),
        (ModelNode("m", "builtin:additive"),),
        tuple(CasesNode(n, "m", n, methods, tests) for n in data),
    )


def write(path, texts):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"id": f"e{i}", "text": t}) for i, t in enumerate(texts)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_two_data_sets_with_the_same_ids_stay_apart(tmp_path):
    data = {
        "a": write(tmp_path / "a" / "test.jsonl", ["one good film", "a bad long day"]),
        "b": write(tmp_path / "b" / "test.jsonl", ["another fine evening out", "no fun at all here"]),
    }
    api.run(cases(data=data), out=tmp_path / "both")
    for name in data:
        alone = api.run(cases(data={name: data[name]}), out=tmp_path / f"only-{name}")
        mixed = api.load(tmp_path / "both", cases=name)
        assert mixed.to_json()["cells"] == alone.to_json()["cells"]
        assert [e.words for e in mixed.explanations] == [e.words for e in alone.explanations]
        assert len(mixed.records) == len(alone.records)


def test_the_same_texts_under_other_ids_are_found_again(tmp_path):
    texts = ["one good film", "a bad long day"]
    data = {"a": write(tmp_path / "a.jsonl", texts), "b": write(tmp_path / "b.jsonl", [*texts, "and one more text"])}
    api.run(cases(data=data), out=tmp_path / "r")
    assert api.load(tmp_path / "r", cases="b").summary.cell("leave-one-out", "deletion").estimate.n == 3


def test_a_run_that_is_extended_is_unfinished_until_it_ends(tmp_path):
    from assay.driver import run

    def plan(limit):
        return api.audit_plan("builtin:additive", "builtin:reviews", methods=["random"], tests=[], limit=limit)

    api.run(plan(2), out=tmp_path / "r")
    assert api.load(tmp_path / "r").summary.meta["finished"]
    events = run(plan(6), tmp_path / "r")
    next(e for e in events if e.kind == "case")
    events.close()
    assert not api.load(tmp_path / "r").summary.meta["finished"]


def test_methods_that_differ_in_a_seed_alone_have_names_of_their_own():
    bound = resolve.methods(["lime", "lime(seed=0)"], seed=1)
    assert len({b.label for b in bound}) == len({b.key for b in bound}) == 2


def test_a_stopped_method_leaves_every_example_counted(tmp_path, monkeypatch):
    from assay import registry
    from assay.methods import leave_one_out

    def broken(x, target, **settings):
        raise ZeroDivisionError("planted")
        yield

    monkeypatch.setattr(leave_one_out, registry.find("methods", "leave-one-out").attribute, broken)
    done = assay.audit("builtin:additive", "builtin:reviews", methods=["random", "leave-one-out"], tests=["deletion"],
                       limit=120, out=tmp_path / "r")  # fmt: skip
    gaps = [g for g in done.summary.gaps if g.method == "leave-one-out"]
    assert sum(g.count for g in gaps) == 120
    assert any("not tried: it failed on its first 10" in g.reason for g in gaps)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"target": "postive"}, "did you mean 'positive'"),
        ({"target": 1.7}, "unknown target '1.7'"),
        ({"limit": 0}, "limit must be at least 1"),
        ({"hold": ["textt"]}, "did you mean 'text'"),
        ({"methods": ["lmie"]}, "did you mean 'lime'"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused_before_anything_runs(settings, message, tmp_path):
    with pytest.raises(assay.AssayError, match=message):
        assay.audit("builtin:planted", "builtin:planted", **settings, out=tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_an_integer_target_goes_through_the_plan_file(tmp_path):
    assay.audit(
        "builtin:additive", "builtin:reviews", methods="random", tests=[], target=1, limit=2, out=tmp_path / "r"
    )
    again = assay.run(tmp_path / "r" / "plan.toml", out=tmp_path / "again")
    assert {e.target.index for e in again.explanations} == {(1,)}


class TestLabels:
    def data(self, *labels):
        return Dataset("mine", (Example("1", {"text": "a fine film"}, 0),), labels)

    def model(self):
        return resolve.model("builtin:planted")

    def test_names_that_say_the_same_are_matched_whatever_their_order(self):
        assert resolve.matched(self.data("pos", "neg"), self.model()).examples[0].gold == 1

    def test_names_that_say_something_else_are_refused(self):
        with pytest.raises(BadInput, match="cannot tell which label of mine"):
            resolve.matched(self.data("good", "terrible"), self.model())

    def test_numbers_and_given_orders_go_by_position_and_say_so(self):
        for found in (resolve.matched(self.data("0", "1"), self.model()),
                      resolve.matched(self.data("bad", "good"), self.model(), by_position=True)):  # fmt: skip
            assert found.examples[0].gold == 0
            assert "by position" in found.notes["labels"]


class TestInPython:
    def predict(self, texts):
        return [[0.2, 0.8] if "good" in t else [0.6, 0.4] for t in texts]

    def test_texts_as_a_list_are_data(self, tmp_path):
        done = assay.audit(self.predict, ["a good day", "a dull day"], methods="leave-one-out", tests="deletion",
                           out=tmp_path / "r")  # fmt: skip
        assert done.summary.cell("leave-one-out", "deletion").estimate.n == 2

    def test_what_is_no_data_and_no_text_is_refused(self, tmp_path):
        with pytest.raises(BadInput, match="item 1 of the data is a int"):
            assay.audit(self.predict, ["a", 3], out=tmp_path / "r")
        with pytest.raises(BadInput, match="cannot use a dict as data"):
            assay.audit(self.predict, {"a": 1}, out=tmp_path / "r")
        with pytest.raises(BadInput, match="cannot explain a NoneType"):
            assay.explain(None, model=self.predict)
        with pytest.raises(BadInput, match="no method was named"):
            assay.explain("a text", model=self.predict, method=[])

    def test_explanations_are_saved_and_read_again(self, tmp_path):
        found = assay.explain("a good day", model="builtin:additive", method=["gradient", "leave-one-out"])
        found.save(tmp_path / "e.json")
        again = Explanations.load(tmp_path / "e.json")
        for name, one in found.items():
            np.testing.assert_allclose(again[name].scores, one.scores)
            assert again[name].words == one.words
            assert again[name].target == one.target
        with pytest.raises(BadInput, match="holds no explanations"):
            Explanations.load(__file__)

    def test_one_explanation_goes_to_pandas_and_json(self, tmp_path):
        one = assay.explain("a good day", model=self.predict, method="leave-one-out", target=1)
        assert list(one.to_pandas()["word"]) == ["a", "good", "day"]
        one.save(tmp_path / "one.json")
        assert json.loads((tmp_path / "one.json").read_text(encoding="utf-8"))["words"] == ["a", "good", "day"]
        assert "good(+" in str(one)

    def test_a_text_of_a_hundred_thousand_words_is_refused_by_what_cannot_take_it(self):
        with pytest.raises(assay.AssayError, match="100000 words: methods that ask once per word take up to 20000"):
            assay.explain("word " * 100_000, model=self.predict, method="leave-one-out", target=1)

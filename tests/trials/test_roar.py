"""ROAR: what is removed is exactly what was named; a planted token's loss is seen; the control and chance agree."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import align, resolve
from assay.data.planted import planted
from assay.models.additive import Additive
from assay.trials import roar as trial
from assay.trials.roar_data import NOTHING, count, explained_by_all, removed_data, said, spliced, where_data
from assay.trials.roar_jobs import Classifier, Ended, Job, retrain, run_all
from assay.trials.roar_recursive import Chain, carried, recursive
from assay.types import OWN, BadInput, Dataset, Example, Explanation, Place, Record, Variants

SEEDS = (42, 100)


def explained(text, scores, model, name="1", gold=1):
    x = model.read(Example(name, {"text": text}, gold))
    return Explanation(x, model.name, "given", OWN, x.spread(np.asarray(scores, dtype=float)))


def data_of(*explanations):
    data = Dataset("given", tuple(e.example for e in explanations), ("no", "yes"))
    return data, {said(e.example): e for e in explanations}


@pytest.fixture(scope="module")
def model():
    return Additive()


def decided(split, size):
    """Planted texts in which the token and the label agree: the token alone tells the label, half have it."""
    data = planted(split=split, size=2 * size, rate=1.0)
    held = [e for e in data.examples if bool(e.rationale)][: size // 2]
    without = [e for e in data.examples if not e.rationale and e.gold == 0][: size // 2]
    return replace(data, examples=tuple(e for pair in zip(held, without, strict=True) for e in pair))


@pytest.fixture(scope="module")
def planted_data():
    return decided("train", 240), decided("dev", 100)


@pytest.fixture(scope="module")
def planted_model(planted_data):
    """A model that learned the planted rule: what it is explained by is known."""
    from assay.trials.roar_jobs import trained

    return trained(Classifier.of("bag"), planted_data[0], 1)


@pytest.fixture(scope="module")
def records(planted_model, planted_data):
    return retrained(planted_model, *planted_data, ["leave-one-out"], rates=(0.0, 0.05), seeds=SEEDS, workers=1)


def retrained(*given_, **settings_):
    """The records of retraining, without those of explaining."""
    return [r for r in trial.roar(*given_, **settings_) if r.test != "roar-attributions"]


def accuracies(records, test, method, rate):
    return [r.values["accuracy"] for r in records if (r.test, r.method, r.detail["rate"]) == (test, method, rate)]


# ---------------------------------------------------------------------------------- how much, and which


@given(st.integers(1, 400), st.integers(1, 100))
def test_count_is_the_papers_ceiling_exactly(words, percent):
    due = count(words, percent / 100)
    assert due == min(words, max(1, -(-percent * (words - 1) // 100)))  # in whole numbers: no rounding


@pytest.mark.parametrize("rate", [-0.1, 1.1, math.nan])
def test_a_rate_outside_zero_and_one_is_refused(rate):
    with pytest.raises(BadInput, match="between 0 and 1"):
        count(5, rate)


def test_highest_signed_scores_go_first_and_near_ties_from_the_left(model):
    e = explained("a b c d e f", [-9.0, 1.0, 1.0 + 1e-9, 0.5, -0.1, 0.0], model)
    data, scores = data_of(e)
    texts = [removed_data(data, scores, r, model=model).examples[0].fields["text"] for r in (0.0, 0.2, 0.4, 0.6)]
    assert texts == ["a b c d e f", "a c d e f", "a d e f", "a e f"]


@pytest.mark.parametrize(
    ("removal", "text"),
    [
        ("delete", "A film, really."),
        ("mask", "A [MASK] film, really [MASK]."),
        ("unk", "A [UNK] film, really [UNK]."),
        ("pad", "A [PAD] film, really [PAD]."),
    ],
)
def test_what_stands_in_the_place_of_removed_words(model, removal, text):
    e = explained("A great film, really great.", [0, 2, 0, 0, 0, 2, 0], model)
    data, scores = data_of(e)
    made = removed_data(data, scores, 0.3, removal, model=model).examples[0]
    assert (made.fields["text"], made.gold, made.id, made.rationale) == (text, 1, "1", ())


@pytest.mark.parametrize("removal", ["zero", "hide"])
def test_an_operator_without_a_text_is_refused_with_the_remedy(model, removal):
    data, scores = data_of(explained("a b", [1, 0], model))
    with pytest.raises(BadInput, match=f"{removal} changes embeddings or attention, not text: retrain with delete"):
        removed_data(data, scores, 0.5, removal, model=model)


def test_one_word_texts_survive_as_a_counted_placeholder(model):
    data, scores = data_of(explained("Great", [1.0], model, "1"), explained("so good", [1.0, 2.0], model, "2"))
    made = removed_data(data, scores, 0.1, model=model)
    assert [e.fields["text"] for e in made.examples] == [NOTHING, "so"]
    assert made.notes["removed"] == {"rate": 0.1, "emptied fields": 1}


def test_a_missing_explanation_is_an_error_that_names_the_example(model):
    data, _ = data_of(explained("a b", [1, 0], model, "seven"))
    with pytest.raises(BadInput, match="example seven has no explanation"):
        removed_data(data, {}, 0.1, model=model)


def test_curves_share_the_examples_that_every_method_ranked(model):
    whole = [explained(t, [1, 0], model, t) for t in ("a b", "c d", "e f")]
    data, scores = data_of(*whole)
    hole = {said(e.example): e for e in whole[:2]} | {
        said(whole[2].example): replace(whole[2], values=np.array([np.nan, 1.0]))
    }
    lacking = {said(e.example): e for e in whole[1:]}
    shared, lost = explained_by_all(data, [scores, hole, lacking])
    assert ([e.id for e in shared.examples], lost) == (["c d"], 2)


def two_fills(x, keep):
    """A language model that has two words for every gap, the second with weight 3/4."""
    yield from ()
    from assay.types import FILL, KEEP, Edit

    codes = np.concatenate([np.where(keep, KEEP, FILL), np.where(keep, KEEP, FILL + 1)]).astype(np.int32)
    return Variants(Edit(codes, ("one", "two")), np.zeros(2, dtype=np.int64), np.array([0.25, 0.75]))


def test_fills_are_drawn_by_weight_and_repeat_by_seed(model):
    bound = resolve.registry.bind("removals", "delete")
    operator = replace(bound, function=two_fills)
    given_ = [explained(f"w{i} b", [1, 0], model, str(i)) for i in range(400)]
    data, scores = data_of(*given_)
    first, again, other = (removed_data(data, scores, 0.5, operator, model=model, seed=s) for s in (0, 0, 1))
    texts = [e.fields["text"] for e in first.examples]
    assert set(texts) == {"one b", "two b"}
    assert abs(texts.count("two b") / 400 - 0.75) < 4 * math.sqrt(0.75 * 0.25 / 400)
    assert first.examples == again.examples
    assert first.examples != other.examples


# ------------------------------------------------------------------------------------------- splicing


TEXTS = st.text(alphabet="ab c.-,'é中", max_size=30)


@settings(max_examples=200)
@given(TEXTS, st.data())
def test_splicing_keeps_every_other_word_and_says_where_it_stands(text, draw):
    spans = align.words(text)
    words = [draw.draw(st.sampled_from([None, None, "", "fill"])) for _ in spans]
    made, places = spliced(text, spans, words)
    kept = [text[a:b] for (a, b), w in zip(spans, words, strict=True) if w is None]
    assert [made[p[0] : p[1]] for p in places if p is not None] == kept
    assert [p is None for p in places] == [w is not None for w in words]
    left = "".join(text[a:b] if w is None else w for (a, b), w in zip(spans, words, strict=True))
    assert "".join(made.split()) == "".join(left.split())
    if all(w is None for w in words):
        assert made == text


def test_two_words_never_grow_together():
    text = "good/bad"
    assert spliced(text, align.words(text), [None, "", None])[0] == "good bad"


def test_the_control_shows_places_and_nothing_else(model):
    data, scores = data_of(explained("A great film.", [0, 2, 1, 0], model))
    assert where_data(data, scores, 0.5).examples[0].fields == {"text": "x _ _ x"}
    assert where_data(data, scores, 0.0).examples[0].fields == {"text": "x x x x"}


# --------------------------------------------------------------------------------------- the experiment


def test_removing_the_planted_token_costs_far_more_than_removing_at_random(records):
    whole, informed, random = (
        np.mean(accuracies(records, "roar", *point)) for point in (("", 0.0), ("leave-one-out", 0.05), ("random", 0.05))
    )
    assert whole > 0.85
    assert random > 0.8
    assert informed < random - 0.25


def test_places_of_random_removal_tell_nothing(records):
    """Where random words went does not depend on the label, and neither does how many: the control is at chance."""
    found = accuracies(records, "roar-control", "random", 0.05)
    assert len(found) == len(SEEDS)
    assert abs(np.mean(found) - 0.5) < 4 * math.sqrt(0.25 / 100)


def test_every_point_has_its_records_and_says_how_it_was_made(records):
    points = {(r.test, r.method, r.detail["rate"], r.replicate) for r in records}
    grid = {(t, m, r, str(s)) for t in ("roar", "roar-control") for m in ("leave-one-out", "random")
            for r in (0.05,) for s in SEEDS}  # fmt: skip
    assert points == grid | {("roar", "", 0.0, str(s)) for s in SEEDS}
    assert len(records) == len(points)
    assert {r.detail["train"] for r in records} == {240}
    assert {r.detail["removal"] for r in records if r.test == "roar"} == {"delete"}
    assert all(r.cost.seconds > 0 and r.reason == "" for r in records)


def test_the_summary_compares_with_random_over_the_same_seeds(records):
    rows = {(r.test, r.method, r.rate): r for r in trial.summary_table(records)}
    row = rows["roar", "leave-one-out", 0.05]
    mine, base = (accuracies(records, "roar", m, 0.05) for m in ("leave-one-out", "random"))
    assert row.accuracy.value == pytest.approx(np.mean(mine))
    assert row.against_random.difference == pytest.approx(np.mean(mine) - np.mean(base))
    assert rows["roar", "random", 0.05].against_random is None
    assert rows["roar", "", 0.0].cells["seeds"] == len(SEEDS)
    assert trial.areas(records)["roar", "delete", "leave-one-out"] > 0.1


def test_two_processes_give_what_one_gives_and_a_finished_run_is_not_done_again(
    planted_model, planted_data, tmp_path, monkeypatch
):
    small = [replace(d, examples=d.examples[:40]) for d in planted_data]
    settings_ = {"rates": (0.0, 0.3), "seeds": (1,), "control": False, "classifier": "bag(epochs=3)"}
    one = retrained(planted_model, *small, ["leave-one-out"], workers=1, **settings_)
    two = retrained(planted_model, *small, ["leave-one-out"], workers=2, out=tmp_path / "run", **settings_)
    assert [(r.method, r.values, r.detail) for r in one] == [(r.method, r.values, r.detail) for r in two]
    monkeypatch.setattr(trial, "work", lambda job: pytest.fail("trained again"))
    kept = retrained(planted_model, *small, ["leave-one-out"], workers=1, out=tmp_path / "run", **settings_)
    assert [(r.method, r.values, r.detail) for r in kept] == [(r.method, r.values, r.detail) for r in one]


def test_another_operator_in_the_same_folder_shares_what_does_not_depend_on_it(
    planted_model, planted_data, tmp_path, monkeypatch
):
    small = [replace(d, examples=d.examples[:40]) for d in planted_data]
    done, work = [], trial.work
    monkeypatch.setattr(trial, "work", lambda job: done.append(job) or work(job))
    made = {}
    for removal in ("delete", "mask"):
        made[removal] = retrained(
            planted_model, *small, [], removal=removal, rates=(0.0, 0.3), seeds=(1,), workers=1, out=tmp_path / "run"
        )
    assert [(r.test, r.detail["removal"]) for r in made["mask"]] == [
        ("roar", "mask"), ("roar", "mask"), ("roar-control", "places only")
    ]  # fmt: skip
    assert len(done) == 3 + 1  # the untouched data and the control are the same
    assert made["mask"][0].values == made["delete"][0].values


def test_a_failed_training_is_a_record_with_its_reason(planted_model, planted_data):
    one_class = replace(planted_data[0], examples=tuple(e for e in planted_data[0].examples[:60] if e.gold == 1))
    dev = replace(planted_data[1], examples=planted_data[1].examples[:20])
    made = retrained(planted_model, one_class, dev, [], rates=(0.1,), seeds=(1,), control=False, workers=1)
    assert [(r.method, r.values) for r in made] == [("random", None)]
    assert "training needs examples of two labels" in made[0].reason
    row = trial.summary_table(made)[0]
    assert (row.failed, row.accuracy.n, row.std) == (1, 0, None)


def test_what_explaining_took_stands_apart_and_a_method_that_cannot_has_the_reason(model, planted_data):
    small = [replace(d, examples=d.examples[:30]) for d in planted_data]
    asked = ["attention", "leave-one-out"]
    made = trial.roar(model, *small, asked, rates=(0.1,), seeds=(1,), control=False, workers=1)
    told = {r.method: r for r in made if r.test == "roar-attributions"}
    assert set(told) == {"attention", "leave-one-out", "random"}
    assert "needs attention" in told["attention"].reason
    words = sum(1 + model.read(e).size for d in small for e in d.examples)
    assert told["leave-one-out"].cost.rows == words
    assert told["leave-one-out"].values["examples"] == 60
    assert {r.method for r in made if r.test == "roar"} == {"leave-one-out", "random"}


def _die(job):
    import os

    os._exit(1)


def test_a_process_that_dies_is_told_and_not_waited_for():
    done = list(run_all(_die, [1, 2, 3], 2, lost=lambda reason: [Ended(None, reason, 0.0)]))
    assert sorted(d.number for d in done) == [0, 1, 2]
    assert all("ended abruptly" in d.result[0].reason for d in done)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"rates": (0.2, 0.1)}, "rates must rise"),
        ({"rates": ()}, "rates must rise"),
        ({"classifier": "bag(epoch=3)"}, "did you mean 'epochs'"),
        ({"workers": 0}, "workers must be 1 or more"),
    ],
)
def test_wrong_settings_are_named(model, planted_data, wrong, says):
    small = [replace(d, examples=d.examples[:10]) for d in planted_data]
    with pytest.raises(BadInput, match=says):
        trial.roar(model, *small, ["random"], **({"rates": (0.1,), "seeds": (1,)} | wrong))


def test_a_key_changes_with_everything_that_fixes_the_result(planted_data):
    train, dev = planted_data
    one = Job(Classifier.of("bag"), train, dev, 1)
    others = [
        replace(one, seed=2),
        replace(one, classifier=Classifier.of("bag(epochs=9)")),
        replace(one, train=replace(train, examples=train.examples[1:])),
        replace(one, train=replace(train, examples=train.examples[:-1]), dev=dev),
    ]
    assert len({j.key for j in (one, *others)}) == 5
    assert one.key == replace(one).key


# -------------------------------------------------------------------------------------------- recursive


def test_scores_are_carried_to_the_words_that_are_still_there(model):
    e = explained("a [MASK] b", [1.0, 5.0, 6.0, 7.0, 2.0], model)  # the literal token is read as three words
    assert carried(e, [Place("text", 0, 1), Place("text", 9, 10)]).tolist() == [1.0, 2.0]
    whole = carried(e, [Place("text", 0, 1), Place("text", 2, 8), Place("text", 9, 10)])
    assert whole.tolist() == [1.0, 18.0, 2.0]


def twins(size, seed):
    """Two words that say the same: the label is told by either, so one removal tells nothing of the other."""
    rng = np.random.default_rng(seed)
    filler = ("table", "chair", "window", "letter", "road", "paper", "cup", "door")
    examples = []
    for i in range(size):
        words = [filler[j] for j in rng.integers(0, len(filler), 9)]
        words[2:2] = [("sun", "moon")[i % 2], ("day", "night")[i % 2]]
        examples.append(Example(f"{seed}-{i}", {"text": " ".join(words)}, i % 2))
    return Dataset("twins", tuple(examples), ("sun", "moon"))


@pytest.mark.parametrize("removal", ["delete", "mask"])
def test_the_recursive_variant_removes_exactly_as_much_and_finds_the_second_copy(removal, monkeypatch):
    from assay.trials import roar_recursive

    seen = []
    original = roar_recursive.judged
    monkeypatch.setattr(roar_recursive, "judged", lambda m, d: seen.append(d) or original(m, d))
    chain = Chain(Classifier.of("bag"), twins(120, 0), twins(60, 1), 7, "leave-one-out", removal, (0.1, 0.2))
    with_one, without = recursive(chain)
    assert with_one.values["accuracy"] > 0.95  # the other copy is still there
    assert without.values["accuracy"] < 0.7
    for step, data in enumerate(seen, 1):
        for example in data.examples:
            words = example.fields["text"].split()
            there = [w for w in words if w != "[MASK]"]
            assert len(there) == 11 - step
            assert len(words) == (11 if removal == "mask" else 11 - step)


def test_a_chain_that_fails_says_so_at_every_later_rate(planted_data):
    one_class = replace(planted_data[0], examples=tuple(e for e in planted_data[0].examples if e.gold == 1))
    chain = Chain(Classifier.of("bag"), one_class, planted_data[1], 7, "random", "delete", (0.1, 0.2))
    done = recursive(chain)
    assert [d.values for d in done] == [None, None]
    assert all("two labels" in d.reason for d in done)


def test_recursive_records_stand_beside_the_plain_ones():
    made = retrained(
        Additive(), twins(60, 0), twins(30, 1), [], rates=(0.0, 0.1, 0.2), seeds=(3,), control=False,
        recursive=True, workers=1,
    )  # fmt: skip
    found = [(r.test, r.method, r.detail["rate"]) for r in made]
    assert found == [("roar", "", 0.0), ("roar", "random", 0.1), ("roar", "random", 0.2),
                     ("roar-recursive", "random", 0.1), ("roar-recursive", "random", 0.2)]  # fmt: skip
    assert all(r.values is not None for r in made)


def test_a_transformer_is_retrained_from_its_folder_and_leaves_nothing_behind(tmp_path, monkeypatch):
    from assay.changes.train import minilm_folder

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    spec = Classifier.of({"name": str(minilm_folder()), "epochs": 2, "lr": 5e-4, "rows": 8, "frozen": 4})
    done = retrain(Job(spec, twins(48, 0), twins(16, 1), 5))
    assert (done.reason, done.values["accuracy"]) == ("", 1.0)  # sun or moon: nothing is easier
    assert list(tmp_path.glob("assay-*")) == []


# ------------------------------------------------------------------------------------------- the numbers


def test_t_tests_are_the_textbook_formulas():
    """Paired t = mean / (sd / sqrt n); Welch's t and degrees of freedom; p by the t distribution's tail."""
    from scipy.stats import t as student

    a, b = np.array([0.71, 0.74, 0.69, 0.75, 0.70]), np.array([0.88, 0.90, 0.87, 0.91, 0.86])
    d = a - b
    paired = 2 * student.sf(abs(d.mean() / (d.std(ddof=1) / math.sqrt(5))), 4)
    va, vb = a.var(ddof=1) / 5, b.var(ddof=1) / 5
    df = (va + vb) ** 2 / (va**2 / 4 + vb**2 / 4)
    welch = 2 * student.sf(abs(d.mean()) / math.sqrt(va + vb), df)
    found = trial.t_test(a, b)
    assert (found.difference, found.paired, found.welch) == pytest.approx((d.mean(), paired, welch))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([0.5], [0.4], (None, None)),
        ([0.5, 0.5], [0.5, 0.5], (1.0, 1.0)),
        ([0.5, 0.5], [0.4, 0.4], (0.0, 0.0)),
    ],
)
def test_t_tests_without_spread_or_with_one_seed(a, b, expected):
    found = trial.t_test(a, b)
    assert (found.paired, found.welch) == expected


def test_samples_of_unequal_size_are_not_paired():
    assert trial.t_test([0.5, 0.6, 0.7], [0.4, 0.5]).paired is None


def test_relative_area_of_known_curves():
    rates = (0.0, 0.1, 0.3)
    random = np.array([0.9, 0.8, 0.6])
    assert trial.relative_area(rates, random, random, 0.5) == pytest.approx(0.0)
    assert trial.relative_area(rates, (0.5, 0.5, 0.5), random, 0.5) == pytest.approx(1.0)
    # by hand: (0 + .2)/2 * .1 + (.2 + .1)/2 * .2 = .04 over (.4 + .3)/2 * .1 + (.3 + .1)/2 * .2 = .075
    assert trial.relative_area(rates, (0.9, 0.6, 0.5), random, 0.5) == pytest.approx(0.04 / 0.075)
    assert math.isnan(trial.relative_area(rates, random, (0.5, 0.5, 0.5), 0.5))
    with pytest.raises(BadInput, match="two or more rising rates"):
        trial.relative_area((0.1,), (0.9,), (0.9,), 0.5)


def test_areas_use_the_untouched_data_as_every_curves_beginning():
    def record(method, rate, accuracy):
        detail = {"rate": rate, "removal": "delete", "majority": 0.5}
        return Record("roar", method=method, replicate="1", values={"accuracy": accuracy}, detail=detail)

    made = [record("", 0.0, 0.9), record("random", 0.2, 0.7), record("mine", 0.2, 0.5)]
    assert trial.areas(made) == {("roar", "delete", "mine"): pytest.approx(0.2 / 0.6)}

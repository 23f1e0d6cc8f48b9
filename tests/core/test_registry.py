"""Names, settings and keys: listing by source equals importing, and every wrong name or setting is told apart."""

from __future__ import annotations

import contextlib
import importlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import registry
from assay.registry import ROOMS, Entry, Spec, bind, entries, find, listing, parameters, read_source
from assay.types import AssayError, BadInput, Seed, UnknownName

LISTED = entries()


@pytest.mark.parametrize("entry", LISTED, ids=lambda e: f"{e.kind}-{e.name}")
def test_listing_by_source_equals_importing(entry: Entry) -> None:
    declared: Entry = entry.load().__assay__  # type: ignore[attr-defined]  # set by the decorator
    assert declared == entry


def test_every_decorated_thing_in_a_room_is_listed() -> None:
    home = Path(registry.__file__).parents[1]
    for kind, room in ROOMS.items():
        for path in (home / room).glob("*.py"):
            for thing in vars(importlib.import_module(f"assay.{room}.{path.stem}")).values():
                made = getattr(thing, "__assay__", None)
                if isinstance(made, Entry) and made.kind == kind:
                    assert made.key in {e.key for e in LISTED if e.kind == kind}


def test_names_are_those_of_the_files() -> None:
    for kind in ("methods", "tests", "removals"):
        stems = {e.module.rpartition(".")[2] for e in LISTED if e.kind == kind}
        assert len(stems) == len([e for e in LISTED if e.kind == kind]), f"one file of {kind} holds two"


@pytest.mark.parametrize(
    ("name", "near"), [("gradeint", "'gradient'"), ("leave_one_out", "'leave-one-out'"), ("Lime", "'lime'")]
)
def test_a_name_that_is_nearly_right_is_offered(name: str, near: str) -> None:
    with pytest.raises(UnknownName, match=f"unknown method '{name}'; did you mean .*{near}"):
        find("methods", name)


def test_a_name_that_is_far_off_gets_the_whole_list() -> None:
    with pytest.raises(UnknownName, match=r"there are: .*gradient.*shapley"):
        find("methods", "zzz")


SOURCE = '''
from assay.registry import method, test
import assay.registry as r

@method("first", version=3, needs={"dot"}, paper="Me 2020")
def a(x, target):
    """Says something.

    More.
    """
    yield

@r.test("second", better="lower", bounds=(0.0, None))
class B:
    "Doc."

def not_declared(): pass
@staticmethod
def other(): pass
'''


def test_what_the_source_declares() -> None:
    one, two = read_source(SOURCE, "some.module", plugin="p")
    assert (one.kind, one.name, one.version, one.module, one.attribute) == ("methods", "first", 3, "some.module", "a")
    assert (one.summary, one.key, one.plugin) == ("Says something.", "first@3", "p")
    assert one.facts["needs"] == {"dot"}
    assert (two.kind, two.version, two.facts["better"], two.facts["bounds"]) == ("tests", 1, "lower", (0.0, None))
    assert (two.facts["of"], two.facts["reruns"], two.facts["headline"]) == ("explanation", False, "")


def test_arguments_of_a_decorator_must_be_literals() -> None:
    with pytest.raises(AssayError, match=r"some\.module:2: a decorator's arguments must be literals"):
        read_source('N = "x"\n@method(N)\ndef f(): pass\n', "some.module")


def test_a_name_given_twice_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    twins = tuple(read_source('@method("twin")\ndef f(): pass\n', m)[0] for m in ("one.place", "other.place"))
    monkeypatch.setattr(listing, "_all_entries", lambda: twins)
    with pytest.raises(AssayError, match=r"two methods are called 'twin': one\.place and other\.place"):
        entries("methods")


def test_a_test_may_have_a_methods_name(monkeypatch: pytest.MonkeyPatch) -> None:
    both = tuple(read_source('@method("a")\ndef f(): pass\n@test("a")\ndef g(): pass\n', "m"))
    monkeypatch.setattr(listing, "_all_entries", lambda: both)
    assert [e.kind for e in entries()] == ["methods", "tests"]


# ---------------------------------------------------------------------------------------------- specs


@pytest.mark.parametrize(
    ("text", "name", "settings"),
    [
        ("random", "random", {}),
        (" random ", "random", {}),
        ("random()", "random", {}),
        ("lime(samples=10, bow=true, width=2.5)", "lime", {"samples": 10, "bow": True, "width": 2.5}),
        ("loo(removal=mask)", "loo", {"removal": "mask"}),
        ("loo(removal=mlm(top=3, at=once), output=prob)", "loo", {"removal": "mlm(top=3, at=once)", "output": "prob"}),
        ("m(a='x, y', b=[1, 2], c=(3, 4))", "m", {"a": "x, y", "b": [1, 2], "c": (3, 4)}),
        ("m(a=leave-one-out)", "m", {"a": "leave-one-out"}),
        ("m(a=-1, b=1e-3, c=None)", "m", {"a": -1, "b": 1e-3, "c": None}),
        ("m(a=b=c)", "m", {"a": "b=c"}),
    ],
)
def test_specs_are_read(text: str, name: str, settings: dict[str, Any]) -> None:
    spec = Spec.parse(text)
    assert (spec.name, dict(spec.settings)) == (name, settings)
    assert Spec.parse(spec) is spec
    assert Spec.parse({"name": name, **settings}) == spec


plain = st.one_of(st.integers(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False),
                  st.from_regex(r"[a-z][a-z-]{0,8}[a-z]", fullmatch=True))  # fmt: skip
keys = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)


@given(st.dictionaries(keys, plain, max_size=4))
def test_written_settings_come_back(settings: dict[str, Any]) -> None:
    written = {k: str(v).lower() if isinstance(v, bool) else repr(v) for k, v in settings.items()}
    text = f"thing({', '.join(f'{k}={v}' for k, v in written.items())})"
    assert dict(Spec.parse(text).settings) == settings


@given(st.text(alphabet="ab(=,)[]'\" 1.-{}", max_size=20))
@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")  # ast reads what was typed
def test_no_text_breaks_the_parser(text: str) -> None:
    with contextlib.suppress(AssayError):
        spec = Spec.parse(text)
        assert "(" not in spec.name
        assert spec == Spec.parse(spec)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lime(samples=1", "no closing bracket"),
        ("lime(samples)", "'samples' in 'lime.samples.' is not key=value"),
        ({"removal": "mask"}, "has no 'name'"),
    ],
)
def test_what_is_no_spec_is_told(text: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Spec.parse(text)


# -------------------------------------------------------------------------------------------- binding


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("lime(sample=3)", "lime has no setting 'sample'; did you mean 'samples'"),
        ("random(zzz=3)", "random has no setting 'zzz'; there are: seed"),
        ("lime(output=porb)", "lime: output cannot be 'porb'; did you mean 'prob'"),
        ("lime(samples=many)", "lime: samples must be int, got 'many'"),
        ("lime(samples=true)", "lime: samples must be int, got True"),
        ("lime(samples=1.5)", "lime: samples must be int, got 1.5"),
        ("lime(bow=1)", "lime: bow must be bool, got 1"),
        ("random(seed=x)", "random: seed must be int, got 'x'"),
        ("lime(removal=mosk)", "unknown removal 'mosk'; did you mean 'mask'"),
    ],
)
def test_bad_settings_are_told(spec: str, message: str) -> None:
    with pytest.raises(AssayError, match=message) as caught:
        bind("methods", spec)
    assert "\n" not in str(caught.value)


def test_same_settings_same_key() -> None:
    spelled = ["lime", "lime()", "lime(samples=1000)", "lime(removal=delete, width=25)", {"name": "lime", "bow": False}]
    assert len({bind("methods", s).key for s in spelled}) == 1


def test_other_settings_other_key() -> None:
    spelled = ["lime", "lime(samples=999)", "lime(removal=mask)", "lime(seed=1)", "lime(bow=true)", "random"]
    assert len({bind("methods", s).key for s in spelled}) == len(spelled)


def test_a_key_names_versions_of_all_it_uses() -> None:
    key = bind("methods", "leave-one-out(removal=mask, output=prob)").key
    assert key == "leave-one-out@1(output='prob', removal=mask@1())"


def test_a_new_version_is_a_new_key() -> None:
    old, new = (read_source(f'@method("m", version={v})\ndef f(): pass\n', "m")[0] for v in (1, 2))
    assert (old.key, new.key) == ("m@1", "m@2")


def test_labels_show_what_was_given() -> None:
    assert bind("methods", "lime").label == "lime"
    assert bind("methods", "lime(removal=mask, samples=9)").label == "lime(removal=mask, samples=9)"


def test_needs_include_those_of_what_is_named() -> None:
    assert "mask" in bind("methods", "leave-one-out(removal=mask)").needs
    assert "mask" not in bind("methods", "leave-one-out").needs
    assert "dot" in bind("methods", "gradient").needs


def test_who_has_a_seed_is_known_and_can_be_given_another() -> None:
    random = bind("methods", "random")
    assert random.seeded == "seed"
    assert bind("methods", "gradient").seeded == ""
    other = random.with_settings(seed=5)
    assert other.settings["seed"] == 5
    assert other.key == bind("methods", "random(seed=5)").key
    assert random.settings["seed"] == 0


def test_a_thing_already_bound_is_taken_as_it_is() -> None:
    mask = bind("removals", "mask")
    assert bind("methods", {"name": "lime", "removal": mask}).settings["removal"] is mask


def _needs_value(x: object, *, must: int, seed: Seed, share: float = 0.5) -> None: ...


def test_parameters_are_the_keywords_of_the_signature() -> None:
    found = parameters(_needs_value)
    assert list(found) == ["must", "seed", "share"]
    assert [p.required for p in found.values()] == [True, True, False]


def test_a_setting_without_default_must_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = Entry("methods", "strict", 1, __name__, "_needs_value", "")
    monkeypatch.setattr(Entry, "load", lambda self: _needs_value)
    with pytest.raises(BadInput, match="strict needs a value for 'must'"):
        registry.bind_entry(entry, Spec("strict"))
    bound = registry.bind_entry(entry, Spec("strict", {"must": 1, "seed": 2, "share": 1}))
    assert bound.settings == {"must": 1, "seed": 2, "share": 1.0}

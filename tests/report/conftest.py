"""A summary with known numbers and hostile texts, and a real browser over DevTools' pipe (no further package)."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assay.summary import Cell, Curve, ExampleView, Gap, Said, Summary
from assay.types import Cost, Estimate
from assay.verdict import judge

CHROMIUM = Path("/usr/bin/chromium")
METHODS = ("random", "attention", "gradient", "integrated-gradients", "leave-one-out(removal=mask)", "lime")
REMOVER = "leave-one-out(removal=mask)"
HOSTILE = (
    "<script>alert(1)</script> </script><img src=x onerror=alert(1)> & &lt; plain",
    "quotes \" ' ` {{ 7*7 }} ${7*7} --> <!-- ]]> \\ \u2028 \u2029 end",
    "שלום עולם זה סרט נפלא \u202e reversed",
    "emoji 👩‍👩‍👧‍👦 🎬 good 𝒷𝒶𝒹 film",
    "long " + "x" * 10_000 + " word",
    "lone \ud800 surrogate and nul \x00 and escape \x1b[31m red",
    "| pipe | and\nnew line\tand tab *star* _under_ [link](http://x)",
)
STARTS = ["this", "a", "the", "one"]
MIDDLES = ["truly", "rather", "almost", "never", "quite", "hardly", "always", "simply"]
WORDS = {
    "positive": ["wonderful", "moving", "delightful", "charming", "superb", "warm", "clever"],
    "negative": ["dull", "tedious", "awful", "clumsy", "boring", "hollow", "bland"],
}
NOUNS = ["film", "story", "plot", "cast", "picture", "drama", "comedy", "scene"]
REST = [
    "with",
    "a",
    "fine",
    "eye",
    "for",
    "the",
    "small",
    "things",
    "that",
    "people",
    "say",
    "to",
    "each",
    "other",
    "when",
    "nobody",
    "listens",
]


def estimate(value, spread=0.03, n=200, skipped=0):
    return Estimate(value, value - spread, value + spread, 0.95, n, skipped, "bootstrap-t")


def view(name, text, predicted="positive", gold="positive", confidence=0.97, rng=None, marked=()):
    """One example whose words are its white-space pieces; leave-one-out and the gradients know the marked words."""
    rng = rng or np.random.default_rng(0)
    places, at = [], 0
    for word in text.split():
        start = text.index(word, at)
        at = start + len(word)
        places.append(("text", start, at))
    words = tuple(text.split())
    known = np.array([1.0 if w in marked else 0.0 for w in words])
    mix = dict(zip(METHODS, (0.0, 0.25, 0.5, 0.9, 1.0, 0.8), strict=True))
    scores = {m: tuple((a * known * 2 + rng.normal(0, 0.35, len(words))).tolist()) for m, a in mix.items()}
    evidence = tuple(w in marked for w in words)
    values = {m: {"deletion": 0.5 - 0.3 * a, "comprehensiveness": 0.1 + 0.4 * a} for m, a in mix.items()}
    fields = {"text": text}
    told = (gold, predicted, predicted, confidence)
    rest = {"positive": "negative", "negative": "positive"}[predicted]
    gone = tuple(Said(rest, 0.6) if w in marked else Said(predicted, confidence) for w in words)
    fills = tuple(((w.lower(), 0.61), ("<b>", 0.2), ("film", 0.003)) for w in words)
    at = tuple(np.linspace(0, 1, len(words) + 1).tolist())
    curves = {m: Curve(at, tuple((confidence * (1 - np.array(at) ** (1.5 - a))).tolist())) for m, a in mix.items()}
    return ExampleView(
        name, fields, *told, words, tuple(places), scores, evidence, values, "", {}, Said(predicted, confidence),
        {REMOVER: gone}, {"lime": fills}, {"deletion": curves},
    )  # fmt: skip


def review(i, rng):
    label = ("positive", "negative")[int(rng.integers(2))]
    word = str(rng.choice(WORDS[label]))
    parts = [rng.choice(STARTS), rng.choice(MIDDLES), word, rng.choice(NOUNS), *REST[: int(rng.integers(6, 17))]]
    wrong = i % 9 == 4
    predicted = {"positive": "negative", "negative": "positive"}[label] if wrong else label
    confidence = float(rng.uniform(0.5, 0.7) if wrong else rng.uniform(0.7, 0.999))
    return view(f"reviews-{i}", " ".join(map(str, parts)), predicted, label, confidence, rng, (word,))


FACTS = {
    "deletion": ("faithfulness", "lower", "auc", "delete", "Taking the top words away makes the prediction fall."),
    "deletion(removal=mask)": ("faithfulness", "lower", "auc", "mask", "Masking the top words lets it fall."),
    "comprehensiveness": ("faithfulness", "higher", "drop", "delete", "Without the marked words the prediction falls."),
    "sufficiency": ("faithfulness", "lower", "drop", "delete", "The marked words alone keep the prediction."),
    "stability": ("stability", "higher", "tau", None, "The same map under another seed."),
    "highlights": ("plausibility", "higher", "f1", None, "The map finds what people marked."),
}  # fmt: skip
TABLE = {
    "deletion": (0.62, 0.60, 0.55, 0.41, 0.30, 0.36),
    "deletion(removal=mask)": (0.66, 0.67, 0.61, 0.50, 0.42, 0.47),
    "comprehensiveness": (0.11, 0.12, 0.20, 0.38, 0.47, 0.41),
    "sufficiency": (0.40, 0.49, 0.35, 0.21, 0.10, 0.16),
    "stability": (0.01, 1.0, 1.0, 0.97, 1.0, 0.61),
    "highlights": (0.10, 0.22, 0.31, 0.46, 0.52, 0.44),
}


def cells():
    for test, (_, better, headline, _, _) in FACTS.items():
        sign = 1 if better == "higher" else -1
        for i, method in enumerate(METHODS):
            value = TABLE[test][i]
            gap = None if method == "random" else estimate(sign * (value - TABLE[test][0]), 0.03)
            sure = gap is not None and abs(gap.value) > 0.03
            skipped = 3 if (method, test) == ("lime", "sufficiency") else 0
            p = None if gap is None else (0.0012 if sure else 0.41)
            yield Cell(method, test, headline, estimate(value, n=200 - skipped, skipped=skipped), True, gap, p)
            yield Cell(method, test, "other", Estimate(float("nan"), None, None, 0.95, 0, 200), False)


def meta():
    keys = ("asks", "better", "headline", "removal", "claim")
    families = ("control", "attention", "gradient", "gradient", "removal", "removal")
    return {
        "model_ref": "builtin", "data_ref": "builtin:reviews", "model": "builtin", "data": "reviews", "n": 200,
        "seed": 0, "labels": ["negative", "positive"], "fingerprint": "6f1c0a77", "unit": "word", "target": "own",
        "methods": {m: {"family": f, "summary": f"What {m} computes.", "paper": "Author 2020", "key": f"{m}@1",
                        "removal": "mask" if "mask" in m else None} for m, f in zip(METHODS, families, strict=True)},
        "tests": {t: {**dict(zip(keys, f, strict=True)), "of": "explanation", "paper": "Author 2020"}
                  for t, f in FACTS.items()} | {"fill-quality": {"of": "input", "asks": "fills", "headline": "match"}},
        "versions": {"assay": "0.1.0", "python": "3.11.2", "torch": "2.13.0"},
        "started": "2026-11-15T20:15:00+00:00",
    }  # fmt: skip


def build(n=60, hostile=True):
    rng = np.random.default_rng(7)
    examples = [review(i, rng) for i in range(n)]
    if hostile:
        examples += [view(f"hostile-{i}", text, marked=("good",)) for i, text in enumerate(HOSTILE)]
    pairs = [(a, b) for i, a in enumerate(METHODS) for b in METHODS[:i]]
    strength = dict(zip(METHODS, (0.0, 0.3, 0.5, 0.8, 0.9, 0.8), strict=True))
    agree = {p: estimate(0.02 if "random" in p else strength[p[0]] * strength[p[1]] - 0.2) for p in pairs}
    return Summary(
        meta(),
        METHODS,
        tuple(FACTS),
        tuple(cells()),
        {**agree, **{(b, a): e for (a, b), e in agree.items()}},
        (Gap("lime", "sufficiency", "fewer than two words were left <b>bold</b>", 3, "reviews-4"),),
        tuple(examples),
        {m: Cost(200 * 10**i, 150 * 10**i, 3000 * 10**i, 0.02 * 10**i) for i, m in enumerate(METHODS)},
        Estimate(0.91, 0.86, 0.94, 0.95, 200, 0, "Wilson"),
        fill_quality(0.41, 0.83),
    )


def fill_quality(match, mass):
    found = {"match": match, "mass": mass}
    return tuple(Cell("", "fill-quality", name, estimate(v), name == "match") for name, v in found.items())


@pytest.fixture(scope="session")
def summary():
    return build()


@pytest.fixture(scope="session")
def verdicts(summary):
    return judge(summary)


@pytest.fixture(scope="session")
def many():
    """A thousand examples of review length."""
    return build(1000, hostile=False)


@pytest.fixture(scope="session")
def without_examples(summary):
    return replace(summary, examples=(), gaps=(), agreement={}, costs={}, accuracy=None)


# ------------------------------------------------------------------------------------------------- browser


class Page:
    """Headless Chromium with one page, driven through --remote-debugging-pipe: messages of JSON ended by NUL."""

    FLAGS = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --hide-scrollbars --remote-debugging-pipe"
    )

    def __init__(self, home):
        mine, theirs = os.pipe(), os.pipe()  # we write to mine[1], read from theirs[0]; Chromium has 3 and 4
        shell = f'exec "$0" {self.FLAGS} "--user-data-dir={home}" about:blank 3<&{mine[0]} 4>&{theirs[1]}'
        self.process = subprocess.Popen(
            ["bash", "-c", shell, str(CHROMIUM)], pass_fds=(mine[0], theirs[1]), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(mine[0])
        os.close(theirs[1])
        self.out, self.into = mine[1], theirs[0]
        self.buffer, self.count, self.session, self.events = b"", 0, None, []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data) :]
        while (answer := self._read()).get("id") != self.count:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def _read(self):
        while b"\0" not in self.buffer:
            chunk = os.read(self.into, 1 << 20)
            assert chunk, "Chromium closed its pipe"
            self.buffer += chunk
        line, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(line)

    def open(self, path, width=1280, height=900, scheme="light"):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self.send("Page.navigate", url=Path(path).as_uri())
        deadline = time.monotonic() + 30
        while self("document.readyState + location.protocol") != "completefile:":
            assert time.monotonic() < deadline, "the page did not load in 30 s"
            time.sleep(0.05)
        return self

    def __call__(self, script):
        """The value of a JavaScript expression."""
        result = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def key(self, name):
        self.send("Input.dispatchKeyEvent", type="keyDown", key=name, code=name)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=name, code=name)

    def problems(self):
        """Console errors, exceptions and everything the page tried to fetch."""
        self("1")
        bad = [
            e
            for e in self.events
            if e["method"] in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")
        ]
        asked = [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]
        return bad + [u for u in asked if not u.startswith(("file:", "data:"))]

    def close(self):
        os.close(self.out)
        os.close(self.into)
        self.process.terminate()
        self.process.wait(timeout=20)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    if not CHROMIUM.exists():
        pytest.skip("no /usr/bin/chromium; install it with: apt-get install -y chromium")
    page = Page(tmp_path_factory.mktemp("chromium"))
    yield page
    page.close()

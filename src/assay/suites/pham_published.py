"""Knows what Pham et al. 2022 printed: the numbers that stand beside ours, by table and data set."""

from __future__ import annotations

from collections.abc import Mapping

SST, ESNLI, MULTIRC = "SST", "e-SNLI", "MultiRC"
NEAREST = {"sst2": SST, "sst": SST, "esnli": ESNLI, "snli": ESNLI, "multirc": MULTIRC, "builtin:pairs": ESNLI}
"""Our word for a data set -> the paper's; every other one is compared with SST."""

IM, LOO_PAD, LOO_UNK, LOO_EMPTY = "IM", "LOO_zero ([PAD])", "LOO_unk", "LOO_empty"
LOO, LIME, LIME_BERT, RANDOM = "LOO", "LIME", "LIME_BERT", "random"
HUMAN = "people"

Rows = Mapping[str, tuple[str, ...]]
"""Row -> what the paper printed in it."""

T1: Mapping[str, Rows] = {
    SST: {
        IM: (".4732", ".4922"),
        LOO_PAD: (".4374", ".4970"),
        LOO_UNK: (".4464", ".5047"),
        LOO_EMPTY: (".4241", ".5065"),
    },
    ESNLI: {
        IM: (".3912", ".2816"),
        LOO_PAD: (".2798", ".3240"),
        LOO_UNK: (".3742", ".3636"),
        LOO_EMPTY: (".2506", ".3328"),
    },
}
"""AUC of Deletion and of Deletion_BERT, lower is better."""
T1B: Rows = {
    IM: (".4981", ".4798"),
    LOO_PAD: (".4524", ".5037"),
    LOO_UNK: (".4595", ".5087"),
    LOO_EMPTY: (".4416", ".4998"),
}
"""The same with RoBERTa on SST-2; the classifier changed too."""
T2: Mapping[str, Rows] = {
    "delete": {
        LOO: ("92.62", "74.59 ± 0.78", "68.94 ± 1.46", "67.89 ± 0.79"),
        IM: ("92.62", "76.22 ± 1.18", "70.07 ± 0.69", "66.54 ± 1.89"),
        RANDOM: ("92.62", "89.22", "87.75", "85.62"),
        "p, LOO against IM": ("", ".037", ".174", ".197"),
        LIME: ("92.62", "75.51", "75.30", "77.45"),
        LIME_BERT: ("92.62", "73.99", "72.22", "70.82"),
    },
    "fills": {
        LOO: ("92.62", "76.79", "71.95", "67.62"),
        IM: ("92.62", "77.36", "71.56", "67.68"),
        RANDOM: ("92.62", "89.38", "88.23", "85.21"),
        "p, LOO against IM": ("", ".267", ".631", ".925"),
        LIME: ("92.62", "78.14", "73.44", "70.57"),
        LIME_BERT: ("92.62", "74.13", "70.44", "70.48"),
    },
}
"""ROAR and ROAR_BERT accuracy (%) without 0, 10, 20 and 30 % of the words; LIME is table A6."""
T3: Mapping[str, Rows] = {
    SST: {
        IM: (".2377", ".5129", ".5245", ".5186"),
        LOO: (".2756", ".4760", ".6077", ".5338"),
        LIME: (".3193", ".4831", ".6882", ".5677"),
        LIME_BERT: (".3170", ".4629", ".7000", ".5573"),
    },
    ESNLI: {IM: (".3316", ".4599", ".6085", ".5239"), LOO: (".3415", ".4867", ".6158", ".5437")},
    MULTIRC: {IM: (".0437", ".1784", ".0630", ".0931"), LOO: (".0887", ".1940", ".2876", ".2317")},
}
"""IoU, precision, recall and F1 against people's highlights (e-SNLI: marked by two of three)."""
T4: Mapping[str, Rows] = {
    SST: {LOO: ("3.52",), IM: ("2.20",), LIME: ("16.38",)},
    ESNLI: {LOO: ("4.92",), IM: ("4.86",), LIME: ("25.74",)},
    MULTIRC: {LOO: ("1.10",), IM: (".24",), LIME: ("17.85",)},
}
"""Drop in accuracy, percentage points."""
A1: Mapping[str, Rows] = {
    SST: {LOO: (".22",), IM: (".17",)},
    ESNLI: {LOO: (".15",), IM: (".15",)},
    MULTIRC: {LOO: (".09",), IM: (".02",)},
}
"""Mean |a| of maps scaled to [-1, 1]."""
A2: Mapping[str, Rows] = {
    SST: {LOO: ("40 %",), IM: ("30 %",), HUMAN: ("37 %",)},
    ESNLI: {LOO: ("19 %",), IM: ("21 %",), HUMAN: ("18 %",)},
    MULTIRC: {LOO: ("27 %",), IM: ("6 %",), HUMAN: ("16 %",)},
}
"""Share of words highlighted (e-SNLI: marked by two of three)."""
A3: Mapping[str, tuple[str, ...]] = {
    SST: ("48.94 %", "41.25 %", ".82", "81 %"),
    ESNLI: ("59.43 %", "42.74 %", ".81", "90 %"),
    MULTIRC: ("64.78 %", "68.55 %", ".8556", "92 %"),
}
"""Likeliest fill is the word itself: over all words, over highlights; its probability then; mass of the top 10."""
A4: Rows = {"top 10": (".4732", ".4922"), "threshold": (".4783", ".4824"), "Pearson": (".72",)}
"""Deletion and Deletion_BERT of IM with ten fills and with all above a threshold (SST-2)."""
A5: Mapping[str, Rows] = {
    SST: {LOO: ("71.41 %", ".46"), IM: ("62.27 %", ".31")},
    ESNLI: {LOO: ("56.07 %", ".26"), IM: ("49.57 %", ".16")},
}
"""Words whose sign changes and mean |difference| when the classifier's weights are drawn anew (own labels)."""

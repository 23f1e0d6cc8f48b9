"""Knows what Jain & Wallace 2019 printed, and the overall correlations in their released results, by data set."""

from __future__ import annotations

from collections.abc import Mapping

from assay.suites.jain_data import AG, IMDB, NEWS, SNLI, SST

Cell = tuple[str, str]
"""(mean tau with its standard deviation where it is known, share of texts with p <= .05)."""

T1: Mapping[str, tuple[str, str, str, str]] = {
    SST: ("19", "3034 / 3321", "863 / 862", ".81"),
    IMDB: ("179", "", "2184 / 2172", ".88"),
    NEWS: ("115", "", "151 / 183", ".94"),
    AG: ("36", "", "", ".96"),
    SNLI: ("14", "", "", ".78"),
    "bAbI 1": ("8", "", "", "1.0"),
    "bAbI 2": ("67", "", "", ".65"),
    "bAbI 3": ("421", "", "", ".64"),
}
"""Average length, texts per class in train and test, test score."""

T2: Mapping[str, tuple[tuple[Cell, Cell, Cell], ...]] = {
    SST: (
        ((".34 ± .21", ".48"), (".61 ± .20", ".87"), (".27 ± .19", ".33")),
        ((".36", ".49"), (".60", ".83"), (".32", ".40")),
    ),
    IMDB: (
        ((".44 ± .06", "1.00"), (".67", "1.00"), (".34", "1.00")),
        ((".43", "1.00"), (".68", "1.00"), (".34", "1.00")),
    ),
    NEWS: (
        ((".07 ± .17", ".37"), (".79", "1.00"), (".06", ".29")),
        ((".21 ± .22", ".61"), (".75", "1.00"), (".20", ".62")),
    ),
    AG: (
        ((".36 ± .13", ".82"), (".78", "1.00"), (".30", ".69")),
        ((".42", ".90"), (".76", "1.00"), (".43", ".91")),
    ),
    "bAbI 1": (((".25 ± .16", ".55"), (".72", ".99"), (".16 ± .14", ".28")),),
    "bAbI 2": ((("-.02 ± .14", ".27"), (".68", "1.00"), ("-.01 ± .13", ".27")),),
    "bAbI 3": (((".24 ± .11", ".87"), (".61", "1.00"), (".26 ± .10", ".89")),),
    SNLI: (((".31 / .33 / .31", ".36 to .38"), (".59 / .58 / .57", ".80"), (".16 / .36 / .34", ".20 / .44 / .40")),),
}
"""By predicted class 0, 1 (SNLI's three together, question answering as one): gradient with BiLSTM, gradient with
the average encoder, leave-one-out with BiLSTM."""

OVERALL: Mapping[str, Mapping[str, tuple[float, float, float]]] = {
    "bilstm": {
        SST: (0.291, 0.351, 0.656), IMDB: (0.341, 0.437, 0.517), NEWS: (0.123, 0.130, 0.534), AG: (0.367, 0.389, 0.612),
        SNLI: (0.290, 0.314, 0.240),
    },
    "average": {
        SST: (0.623, 0.606, 0.558), IMDB: (0.576, 0.675, 0.639), NEWS: (0.721, 0.772, 0.622), AG: (0.507, 0.770, 0.494),
        SNLI: (0.593, 0.582, 0.587),
    },
    "cnn": {SST: (0.352, 0.477, 0.488), IMDB: (0.295, 0.452, 0.513), AG: (0.360, 0.491, 0.462)},
}  # fmt: skip
"""Mean tau over all texts by encoder: attention with leave-one-out, attention with gradient, gradient with
leave-one-out."""


def overall(encoder: str, nearest: str) -> tuple[float, float, float] | None:
    """The three means of an encoder on a data set, or None where none are known."""
    return OVERALL.get(encoder, {}).get(nearest)


def gaps(encoder: str, nearest: str) -> tuple[float | None, float | None, float | None]:
    """Figures 6 to 8 as numbers: what gradient and leave-one-out share beyond what attention shares with either of
    them, and what the average encoder has beyond this one.

    >>> [round(v, 3) for v in gaps("bilstm", "SST") if v is not None]
    [0.365, 0.305, 0.332]
    """
    mine, average = overall(encoder, nearest), overall("average", nearest)
    if mine is None:
        return None, None, None
    beyond = None if average is None or encoder == "average" else average[0] - mine[0]
    return mine[2] - mine[0], mine[2] - mine[1], beyond

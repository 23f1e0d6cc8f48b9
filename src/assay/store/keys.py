"""What results are filed under: the content of model and example, never where they came from or how fast."""

from __future__ import annotations

from assay.types import content_key


def explanation_key(model_fp: str, example_content: str, target_rule: str, method_key: str) -> str:
    """Key of one method's scores; another model, example, rule or setting never shares it.

    >>> explanation_key("m1", "e", "own", "random@1()") == explanation_key("m2", "e", "own", "random@1()")
    False
    """
    return content_key("explanation", model_fp, example_content, target_rule, method_key)


def record_key(
    model_fp: str,
    example_content: str,
    target_rule: str,
    method_key: str,
    test_key: str,
    other_key: str = "",
    replicate: str = "",
) -> str:
    """Key of one test's numbers.

    >>> len(record_key("m1", "e", "own", "random@1()", "deletion@1()"))
    32
    """
    return content_key("record", model_fp, example_content, target_rule, method_key, test_key, other_key, replicate)

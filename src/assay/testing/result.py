"""What a contract is and what it comes to: a function of one bound thing that raises Broken with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from assay.registry import Bound

Contract = Callable[[Bound], str | None]
"""Checks one thing; returns '' or a remark, raises Broken or NotTried. Its name in results is the function's."""


@dataclass(frozen=True, slots=True)
class Result:
    """One contract on one entry. ``message``: what is wrong, or why the contract does not apply ('not tried: ...')."""

    contract: str
    entry: str
    ok: bool
    message: str = ""

    def __str__(self) -> str:
        return f"{'ok  ' if self.ok else 'FAIL'} {self.entry}: {self.contract}{': ' * bool(self.message)}{self.message}"


class Broken(Exception):
    """The contract does not hold; the message says where."""


class NotTried(Exception):
    """The contract says nothing about this entry; the message says why."""


def expect(holds: Any, message: str) -> None:
    """Raise Broken unless it holds."""
    if not holds:
        raise Broken(message)


def judge(contracts: Sequence[Contract], bound: Bound) -> Iterator[Result]:
    """Every contract on one thing; an exception inside the thing breaks the contract, and the next one is tried."""
    for contract in contracts:
        name = contract.__name__.replace("_", "-")
        try:
            yield Result(name, bound.label, True, contract(bound) or "")
        except Broken as broken:
            yield Result(name, bound.label, False, str(broken))
        except NotTried as reason:
            yield Result(name, bound.label, True, f"not tried: {reason}")
        except Exception as error:  # whatever the thing under test raises is a result, not an end
            yield Result(name, bound.label, False, f"raised {type(error).__name__}: {error}")

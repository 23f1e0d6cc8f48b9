"""A control: the same model with its classifier, or its top modules, drawn anew; what stays alike was not learned."""

from __future__ import annotations

import copy
from typing import Literal, TypeVar

import torch
from torch import Tensor, nn

from assay.models.torch import TorchModel
from assay.registry import change
from assay.types import BadInput, CannotDo, Seed

SEED = Seed(0)
Family = TypeVar("Family", bound=TorchModel)


@change(
    "reinitialise",
    purpose="control",
    paper="Adebayo et al. 2018, Sanity checks for saliency maps; Pham et al. 2022, Double trouble",
)
def reinitialise(
    model: Family, *, what: Literal["head", "cascade"] = "head", modules: int = 1, seed: Seed = SEED
) -> Family:
    """A copy of a model whose top has forgotten what it learned; the model itself is not touched.

    ``head``: the weight of the final classifier ~ U(-b, b), b = sqrt(6 / (inputs + outputs)) (Xavier uniform), its bias
    kept, as Pham et al. 2022 do. ``cascade``: the same, and with it the modules below, ``modules`` in all, counted
    from the last that the network defines: matrices Xavier uniform, scales of norms 1, biases 0 (rows of zeros in
    a table of embeddings, the padding, stay). The classifier is the last linear layer with as many outputs as the model
    has logits. A method whose maps do not change does not look at what was drawn anew: so must attention under
    ``head``. The reverse says little: noise changes too (see the trial ``randomisation``). Same seed, same copy.
    """
    if modules < 1:
        raise BadInput(f"reinitialise: modules must be at least 1, got {modules}")
    made = copied(model)
    head = classifier(made)
    draw = torch.Generator().manual_seed(int(seed))
    with torch.no_grad():
        head.weight.copy_(_xavier(head.weight, draw))
        if what == "cascade":
            for module in below(made.net, head)[: modules - 1]:
                _forget(module, draw)
    made.name = f"{model.name} ({what}{f' of {modules}' if what == 'cascade' else ''} drawn anew, seed {int(seed)})"
    return made


def copied(model: Family) -> Family:
    """The same model with a network of its own; what was derived from the weights is forgotten."""
    if not isinstance(model, TorchModel):
        raise CannotDo(f"{getattr(model, 'name', model)} has no network that can be changed: give a torch model")
    made = copy.copy(model)
    made.net = copy.deepcopy(model.net)
    made._encodings = {}
    made.__dict__.pop("fingerprint", None)
    return made


def classifier(model: TorchModel) -> nn.Linear:
    """The last linear layer with as many outputs as the model has logits."""
    outputs = 1 if model.head == "binary" else len(model.labels)
    found = [m for m in model.net.modules() if isinstance(m, nn.Linear) and m.out_features == outputs]
    if not found:
        raise CannotDo(f"{model.name} has no linear layer with {outputs} outputs, so no classifier to draw anew")
    return found[-1]


def below(net: nn.Module, head: nn.Linear) -> list[nn.Module]:
    """Modules with parameters of their own, from the classifier (left out) downwards, as the network defines them."""
    own = [m for m in net.modules() if next(m.parameters(recurse=False), None) is not None]
    at = next(i for i, m in enumerate(own) if m is head)
    return own[:at][::-1]


def _forget(module: nn.Module, draw: torch.Generator) -> None:
    """All parameters of one module as if it were new."""
    for name, values in module.named_parameters(recurse=False):
        if values.dim() < 2:
            values.fill_(1.0 if "Norm" in type(module).__name__ and "bias" not in name else 0.0)
            continue
        fresh = _xavier(values, draw)
        if isinstance(module, nn.Embedding):
            fresh[(values == 0).all(dim=1).cpu()] = 0.0
        values.copy_(fresh)


def _xavier(like: Tensor, draw: torch.Generator) -> Tensor:
    return nn.init.xavier_uniform_(torch.empty(like.shape, dtype=torch.float32), generator=draw)

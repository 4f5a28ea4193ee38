"""Muon: momentum whose update of a matrix is made orthogonal (Jordan and others, 2024)."""

import torch
from torch import Tensor

from precision import has_fast_bfloat16

# Coefficients of the quintic iteration that brings all singular values near one.
COEFFICIENTS = (3.4445, -4.7750, 2.0315)
ITERATIONS = 5


def orthogonalize(updates: Tensor) -> Tensor:
    """Works on a stack of matrices of one shape."""
    a, b, c = COEFFICIENTS
    x = updates.bfloat16() if has_fast_bfloat16(updates.device) else updates
    is_tall = x.shape[-2] > x.shape[-1]
    if is_tall:
        x = x.mT
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(ITERATIONS):
        square = x @ x.mT
        x = a * x + (b * square + c * square @ square) @ x
    return (x.mT if is_tall else x).float()


class Muon(torch.optim.Optimizer):
    def __init__(self, params, lr: float, momentum: float = 0.95, weight_decay: float = 0.01) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure=None) -> None:
        for group in self.param_groups:
            for weights in by_shape(group["params"]):
                self.update(weights, group)

    def update(self, weights: list[Tensor], group: dict) -> None:
        directions = []
        for weight in weights:
            state = self.state[weight]
            if "velocity" not in state:
                state["velocity"] = torch.zeros_like(weight)
            velocity = state["velocity"].lerp_(weight.grad, 1 - group["momentum"])
            directions.append(weight.grad.lerp(velocity, group["momentum"]))
        rows, columns = weights[0].shape
        scale = max(1.0, rows / columns) ** 0.5
        for weight, direction in zip(weights, orthogonalize(torch.stack(directions))):
            weight.mul_(1 - group["lr"] * group["weight_decay"])
            weight.add_(direction, alpha=-group["lr"] * scale)


def by_shape(weights: list[Tensor]) -> list[list[Tensor]]:
    shapes: dict[tuple[int, ...], list[Tensor]] = {}
    for weight in weights:
        if weight.grad is not None:
            shapes.setdefault(tuple(weight.shape), []).append(weight)
    return list(shapes.values())

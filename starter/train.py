"""Trains the starter model: `python train.py <rows.npz> <checkpoint.pt> --steps N [--until N] [--after FILE] [--device D] [--threads N]`.

Interrupted, it goes on from the checkpoint when it is started again with the same words. `--until` stops
before the last step, for a training that goes on with other rows and another schedule. A graphics card is
used where there is one; a checkpoint may be made on one machine and gone on from on another.
"""

import argparse
import math
import os
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as functional
from torch import Tensor

from model import Shape, StarterModel
from muon import Muon
from precision import half_precision

ROWS_A_STEP = 4
WARM_UP_STEPS = 60
# Of what people and tools write, at most so much is predicted: the output's matrix is a sixth of all work.
PROMPT_SHARE = 0.25
SECONDS_BETWEEN_CHECKPOINTS = 180


def rate(step: int, settings: argparse.Namespace) -> float:
    """Rises, stays level, and falls to zero over the last part of the steps."""
    rising = (step + 1) / WARM_UP_STEPS
    falling = (settings.steps - step) / (settings.steps * settings.falling)
    return min(rising, settings.peak, max(0.0, falling))


def make_optimizers(model: StarterModel) -> list[torch.optim.Optimizer]:
    matrices = [weight for name, weight in model.named_parameters() if weight.ndim == 2 and "embedding" not in name]
    vectors = [weight for weight in model.parameters() if weight.ndim == 1]
    return [
        Muon(matrices, lr=0.02),
        torch.optim.AdamW(
            [{"params": [model.embedding.weight], "lr": 4e-3}, {"params": vectors, "lr": 4e-3}],
            betas=(0.9, 0.98),
            weight_decay=0.0,
            fused=True,
        ),
    ]


class Batches:
    """Rows of one window at a time, in an order that the seed fixes, the same again after an interruption."""

    def __init__(self, file: str, device: torch.device) -> None:
        held = np.load(file)
        self.device = device
        self.tokens, self.weights, self.segments = held["tokens"], held["weights"], held["segments"]
        self.windows = held["windows"]
        self.bare = torch.from_numpy(held["bare"]).to(device)
        random = np.random.default_rng(2)
        batches = []
        for window in np.unique(self.windows):
            rows = random.permutation(np.flatnonzero(self.windows == window))
            batches += np.split(rows[: len(rows) // ROWS_A_STEP * ROWS_A_STEP], len(rows) // ROWS_A_STEP)
        self.order = random.permutation(batches)

    def __getitem__(self, step: int) -> tuple[Tensor, Tensor, Tensor, int]:
        chosen = self.order[step % len(self.order)]
        tokens = torch.from_numpy(self.tokens[chosen].astype(np.int64))
        weights = torch.from_numpy(self.weights[chosen].astype(np.float32)) / 100
        segments = torch.from_numpy(self.segments[chosen].astype(np.int64))
        window = int(self.windows[chosen[0]])
        return tokens.to(self.device), weights.to(self.device), segments.to(self.device), window


def loss_of(
    model: StarterModel, hidden: Tensor, tokens: Tensor, weights: Tensor, prompts: float
) -> tuple[Tensor, Tensor]:
    """All that is said counts, and of what is asked a part that is drawn, which stands for `prompts` of it."""
    share = min(PROMPT_SHARE, prompts)
    weights, following = weights[:, 1:].flatten(), tokens[:, 1:].flatten()
    said = weights >= 1
    is_drawn = torch.rand_like(weights) < share
    counted = (said | is_drawn).nonzero().squeeze(1)
    logits = model.logits(hidden[:, :-1].flatten(0, 1)[counted]).float()
    losses = functional.cross_entropy(logits, following[counted], reduction="none")
    said = said[counted]
    weights = torch.where(said, weights[counted], weights[counted] * prompts / share)
    return (losses * weights).sum() / weights.sum(), (losses.detach() * said).sum() / said.sum()


def save(file: Path, state: dict) -> None:
    unfinished = file.with_suffix(".unfinished")
    torch.save(state, unfinished)
    os.replace(unfinished, file)


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("rows")
    arguments.add_argument("checkpoint", type=Path)
    arguments.add_argument("--steps", type=int, required=True)
    arguments.add_argument("--until", type=int)
    arguments.add_argument("--after", type=Path, help="a finished training that this one goes on from, when it begins")
    arguments.add_argument("--falling", type=float, default=0.4, help="the part of the steps in which the rate falls")
    arguments.add_argument("--peak", type=float, default=1.0, help="the highest rate, against the usual one")
    arguments.add_argument("--prompts", type=float, default=1.0, help="how much prompts count, against the usual")
    arguments.add_argument("--device", type=torch.device, default="cuda" if torch.cuda.is_available() else "cpu")
    arguments.add_argument("--threads", type=int, default=os.cpu_count())
    settings = arguments.parse_args()
    until = settings.until or settings.steps
    torch.set_num_threads(settings.threads)
    torch.manual_seed(3)

    batches = Batches(settings.rows, settings.device)
    model = StarterModel(Shape(), batches.bare).to(settings.device)
    optimizers = make_optimizers(model)
    peaks = [[group["lr"] for group in optimizer.param_groups] for optimizer in optimizers]
    first = 0
    begun = settings.checkpoint if settings.checkpoint.exists() else settings.after
    if begun is not None:
        state = torch.load(begun, map_location=settings.device)
        model.load_state_dict(state["model"])
        # Weights that were carried over to another vocabulary come without.
        for optimizer, held in zip(optimizers, state.get("optimizers", [])):
            optimizer.load_state_dict(held)
        first = state["step"] if begun == settings.checkpoint else 0
    run = torch.compile(model, dynamic=False)
    print(f"{sum(weight.numel() for weight in model.parameters()):,} parameters, {len(batches.order)} batches", flush=True)

    saved = started = time.monotonic()
    for step in range(first, until):
        tokens, weights, segments, window = batches[step]
        with half_precision(settings.device):
            loss, said = loss_of(model, run(tokens, segments, window), tokens, weights, settings.prompts)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer, lrs in zip(optimizers, peaks):
            for group, lr in zip(optimizer.param_groups, lrs):
                group["lr"] = lr * rate(step, settings)
            optimizer.step()
            optimizer.zero_grad()
        if not math.isfinite(loss.item()):
            raise SystemExit(f"The loss is not a number any more at step {step}.")
        now = time.monotonic()
        if step % 10 == 0:
            spent = (now - started) / (step + 1 - first)
            print(f"step {step} loss {loss.item():.4f} said {said.item():.4f} {spent:.2f} s a step", flush=True)
        if now - saved > SECONDS_BETWEEN_CHECKPOINTS or step + 1 == until:
            held = [optimizer.state_dict() for optimizer in optimizers]
            save(settings.checkpoint, {"model": model.state_dict(), "optimizers": held, "step": step + 1})
            saved = now


if __name__ == "__main__":
    main()

"""The mean of two checkpoints of one training, better than either: `python mean.py <one.pt> <other.pt> <mean.pt>`."""

import sys

import torch


def main(one_file: str, other_file: str, mean_file: str) -> None:
    one, other = (torch.load(file, map_location="cpu") for file in (one_file, other_file))
    weights = {
        name: (weight + other["model"][name]) / 2 if weight.is_floating_point() else weight
        for name, weight in one["model"].items()
    }
    torch.save({"model": weights, "step": max(one["step"], other["step"])}, mean_file)


if __name__ == "__main__":
    main(*sys.argv[1:])

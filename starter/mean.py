"""The mean of checkpoints that were trained one from the other, better than any: `python mean.py <mean.pt> <one.pt> <other.pt> …`."""

import sys

import torch


def main(mean_file: str, *files: str) -> None:
    states = [torch.load(file, map_location="cpu") for file in files]
    weights = {
        name: sum(state["model"][name] for state in states) / len(states) if weight.is_floating_point() else weight
        for name, weight in states[0]["model"].items()
    }
    torch.save({"model": weights, "step": max(state["step"] for state in states)}, mean_file)


if __name__ == "__main__":
    main(*sys.argv[1:])

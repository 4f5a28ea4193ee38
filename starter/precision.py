"""Where computing in bfloat16 saves time: a processor without instructions for it imitates them, many times slower."""

import contextlib

import torch


def has_fast_bfloat16(device: torch.device) -> bool:
    return device.type != "cpu" or torch.cpu.get_capabilities().get("avx512_bf16", False)


def half_precision(device: torch.device) -> contextlib.AbstractContextManager:
    if not has_fast_bfloat16(device):
        return contextlib.nullcontext()
    return torch.autocast(device.type, dtype=torch.bfloat16)

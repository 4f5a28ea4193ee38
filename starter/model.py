"""The starter model: a small decoder whose every layer looks back through one sliding window.

It is written so that llama.cpp runs the exported weights natively, as the architecture
`gemma3`: norms before and after each block, normed queries and keys, rotary positions,
a gated feed-forward network and an output that shares the embedding's weights.
No layer looks further back than `window` tokens, so neither cost per token nor quality
changes with the length of a conversation.
"""

from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as functional
from torch import Tensor, nn


@dataclass(frozen=True)
class Shape:
    vocabulary: int = 4096
    width: int = 320
    layers: int = 8
    heads: int = 4
    key_value_heads: int = 2
    head_width: int = 64
    feed_forward: int = 896
    window: int = 640
    rope_base: float = 10_000.0
    norm_epsilon: float = 1e-6

    def as_dict(self) -> dict:
        return asdict(self)


class Norm(nn.Module):
    def __init__(self, width: int, epsilon: float, start: float = 1.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((width,), start))
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        return functional.rms_norm(x, (x.shape[-1],), self.weight.to(x.dtype), self.epsilon)


def rotate(x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Turns the halves of each head against each other, as the exported architecture does."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cosines - second * sines, second * cosines + first * sines), dim=-1)


class Attention(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.query = nn.Linear(shape.width, shape.heads * shape.head_width, bias=False)
        self.key = nn.Linear(shape.width, shape.key_value_heads * shape.head_width, bias=False)
        self.value = nn.Linear(shape.width, shape.key_value_heads * shape.head_width, bias=False)
        self.output = nn.Linear(shape.heads * shape.head_width, shape.width, bias=False)
        self.query_norm = Norm(shape.head_width, shape.norm_epsilon)
        self.key_norm = Norm(shape.head_width, shape.norm_epsilon)

    def forward(self, x: Tensor, rope: tuple[Tensor, Tensor], mask: Tensor) -> Tensor:
        shape = self.shape
        batch, length, _ = x.shape
        queries = self.query_norm(self.query(x).view(batch, length, shape.heads, shape.head_width))
        keys = self.key_norm(self.key(x).view(batch, length, shape.key_value_heads, shape.head_width))
        values = self.value(x).view(batch, length, shape.key_value_heads, shape.head_width)
        queries, keys = rotate(queries, *rope), rotate(keys, *rope)
        mixed = attend_in_chunks(queries, keys, values, mask, shape)
        return self.output(mixed.reshape(batch, length, -1))


def attend_in_chunks(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor, shape: Shape) -> Tensor:
    """Each chunk, half a window long, needs no more than itself and the two chunks before it."""
    batch, length, _, width = queries.shape
    chunk = mask.shape[2]
    chunks = length // chunk

    def with_chunks_before(x: Tensor) -> Tensor:
        padded = functional.pad(x, (0, 0, 0, 0, 2 * chunk, 0))
        padded = padded.view(batch, chunks + 2, chunk, shape.key_value_heads, width)
        triples = torch.cat((padded[:, :-2], padded[:, 1:-1], padded[:, 2:]), dim=2)
        triples = triples.view(batch * chunks, 3 * chunk, shape.key_value_heads, width).transpose(1, 2)
        return triples.repeat_interleave(shape.heads // shape.key_value_heads, dim=1)

    folded = queries.view(batch * chunks, chunk, shape.heads, width).transpose(1, 2)
    if keys.dtype == torch.bfloat16 and keys.device.type == "cpu":
        # Written out, this is faster in half precision than the fused operation with a mask; else it is slower.
        scores = (folded @ with_chunks_before(keys).mT) * width**-0.5
        mixed = scores.masked_fill(~mask, -30_000.0).softmax(dim=-1) @ with_chunks_before(values)
    else:
        mixed = functional.scaled_dot_product_attention(
            folded, with_chunks_before(keys), with_chunks_before(values), attn_mask=mask
        )
    return mixed.transpose(1, 2).reshape(batch, length, shape.heads, width)


class Block(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        after = (2 * shape.layers) ** -0.5
        self.attention_norm = Norm(shape.width, shape.norm_epsilon)
        self.attention = Attention(shape)
        self.attention_after = Norm(shape.width, shape.norm_epsilon, after)
        self.feed_forward_norm = Norm(shape.width, shape.norm_epsilon)
        self.gate = nn.Linear(shape.width, shape.feed_forward, bias=False)
        self.up = nn.Linear(shape.width, shape.feed_forward, bias=False)
        self.down = nn.Linear(shape.feed_forward, shape.width, bias=False)
        self.feed_forward_after = Norm(shape.width, shape.norm_epsilon, after)

    def forward(self, x: Tensor, rope: tuple[Tensor, Tensor], mask: Tensor) -> Tensor:
        x = x + self.attention_after(self.attention(self.attention_norm(x), rope, mask))
        inner = self.feed_forward_norm(x)
        inner = self.down(functional.gelu(self.gate(inner), approximate="tanh") * self.up(inner))
        return x + self.feed_forward_after(inner)


class SharedEmbedding(nn.Module):
    """A row for each token; a word behind a space is the word, what all such words share, and something of its own.

    `bare` holds for each token the one that it is behind a space, and -1 for every other.
    """

    def __init__(self, shape: Shape, bare: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(shape.vocabulary, shape.width))
        self.space = nn.Parameter(torch.zeros(shape.width))
        self.register_buffer("bare", bare)

    def table(self) -> Tensor:
        is_spaced = (self.bare >= 0)[:, None]
        shared = functional.embedding(self.bare.clamp(min=0), self.weight) + self.space
        return self.weight + is_spaced * shared


class StarterModel(nn.Module):
    def __init__(self, shape: Shape, bare: Tensor) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = SharedEmbedding(shape, bare)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = Norm(shape.width, shape.norm_epsilon)
        nn.init.normal_(self.embedding.weight, std=0.02)
        for block in self.blocks:
            for module in block.modules():
                if isinstance(module, nn.Linear):
                    nn.init.normal_(module.weight, std=0.5 * module.in_features**-0.5)

    def forward(self, tokens: Tensor, segments: Tensor, window: int) -> Tensor:
        """The last layer's normed output, a row a token.

        `segments` numbers the parts of each row that may not see each other. A row's
        length is a multiple of the window, which is smaller where no conversation is longer.
        """
        mask = window_mask(segments, window)
        rope = self.rope(tokens)
        x = functional.embedding(tokens, self.embedding.table()) * self.shape.width**0.5
        if torch.is_autocast_enabled(tokens.device.type):
            x, rope = x.bfloat16(), (rope[0].bfloat16(), rope[1].bfloat16())
        for block in self.blocks:
            x = block(x, rope, mask)
        return self.norm(x)

    def logits(self, hidden: Tensor) -> Tensor:
        return functional.linear(hidden, self.embedding.table())

    def rope(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        half = self.shape.head_width // 2
        speeds = self.shape.rope_base ** (-torch.arange(half, dtype=torch.float32, device=tokens.device) / half)
        angles = torch.arange(tokens.shape[1], dtype=torch.float32, device=tokens.device)[:, None] * speeds
        return angles.cos()[None, :, None, :], angles.sin()[None, :, None, :]


def window_mask(segments: Tensor, window: int) -> Tensor:
    """Which keys of its own and the two chunks before it each query sees: `[batch × chunks, 1, chunk, 3 × chunk]`."""
    batch, length = segments.shape
    chunk = window // 2
    chunks = length // chunk
    padded = functional.pad(segments, (window, 0), value=-1).view(batch, chunks + 2, chunk)
    keys = torch.cat((padded[:, :-2], padded[:, 1:-1], padded[:, 2:]), dim=-1)
    same = padded[:, 2:, :, None] == keys[..., None, :]
    positions = torch.arange(3 * chunk, device=segments.device)
    distance = positions[:chunk, None] + window - positions[None, :]
    near = (distance >= 0) & (distance < window)
    return (same & near).view(batch * chunks, 1, chunk, 3 * chunk)

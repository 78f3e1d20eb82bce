"""A small story of a paged cache, step by step: requests take blocks from anywhere, and give them back.

It is a picture's script, with four tokens a block so that a block can be drawn; engines use 16 and more. The rule is
the real one: a request takes a free block when its last one is full, and a table remembers where each block lies.
Source: Kwon et al. 2023, arXiv:2309.06180, section 4.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

BLOCK_TOKENS = 4
NUM_BLOCKS = 10
LONGEST = 20  # tokens that a cache in one piece would reserve for each request


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request: when it comes, and how long it is."""

    name: str
    step: int
    prompt: int  # tokens
    answer: int  # tokens


ARRIVALS = (Arrival("A", 0, 6, 12), Arrival("B", 1, 3, 5), Arrival("C", 3, 9, 6), Arrival("D", 8, 10, 6))


@dataclass(frozen=True, slots=True)
class Held:
    """One running request: its tokens, and its blocks in the order of the text."""

    name: str
    tokens: int
    blocks: tuple[int, ...]

    @property
    def empty(self) -> int:
        """Slots of its last block that hold no token yet. [tokens]"""
        return len(self.blocks) * BLOCK_TOKENS - self.tokens

    def filled(self, block: int) -> int:
        """Tokens in one of its blocks: all are full but the last. [tokens]"""
        return min(self.tokens - self.blocks.index(block) * BLOCK_TOKENS, BLOCK_TOKENS)


@dataclass(frozen=True, slots=True)
class Frame:
    """The cache after one step."""

    step: int
    words: str  # what happened
    held: tuple[Held, ...]

    @property
    def tokens(self) -> int:
        """Tokens held. [tokens]"""
        return sum(one.tokens for one in self.held)

    @property
    def empty(self) -> int:
        """Slots that are taken and hold no token. [tokens]"""
        return sum(one.empty for one in self.held)

    @property
    def free_blocks(self) -> int:
        """Blocks that nobody holds. [blocks]"""
        return NUM_BLOCKS - sum(len(one.blocks) for one in self.held)

    @property
    def in_one_piece(self) -> int:
        """Slots that these requests would take if each had reserved the longest length in one piece. [tokens]"""
        return len(self.held) * LONGEST


@dataclass(slots=True)
class _Running:
    arrival: Arrival
    tokens: int
    blocks: list[int] = field(default_factory=list)

    @property
    def done(self) -> bool:
        return self.tokens >= self.arrival.prompt + self.arrival.answer


def story(arrivals: tuple[Arrival, ...] = ARRIVALS, *, num_blocks: int = NUM_BLOCKS) -> list[Frame]:
    """One frame a step, until the last request has ended: every running request grows by a token each step.

    A request waits while there are not enough free blocks for its prompt; one that runs is never stopped here, so the
    arrivals must leave room to grow.
    """
    free = list(range(num_blocks))
    running: list[_Running] = []
    waiting = sorted(arrivals, key=lambda arrival: arrival.step)
    frames: list[Frame] = []
    step = 0
    while waiting or running:
        said = list(_advance(running, free))
        for arrival in [one for one in waiting if one.step <= step]:
            need = -(-arrival.prompt // BLOCK_TOKENS)
            if need > len(free):
                said.append(f"{arrival.name} waits for {need} free blocks")
                continue
            waiting.remove(arrival)
            new = _Running(arrival, arrival.prompt, [free.pop(0) for _ in range(need)])
            running.append(new)
            said.append(f"{arrival.name} comes with {arrival.prompt} tokens and takes {_named(new.blocks)}")
        held = tuple(Held(one.arrival.name, one.tokens, tuple(one.blocks)) for one in running)
        frames.append(Frame(step, "; ".join(said) or "every request grows by a token", held))
        step += 1
    return frames


def _advance(running: list[_Running], free: list[int]) -> Iterator[str]:
    """One decode step: those that are done give their blocks back, the others grow by a token."""
    for one in [one for one in running if one.done]:
        running.remove(one)
        free.extend(one.blocks)
        free.sort()
        yield f"{one.arrival.name} ends and gives {_named(one.blocks)} back"
    for one in running:
        one.tokens += 1
        if one.tokens > len(one.blocks) * BLOCK_TOKENS:
            one.blocks.append(free.pop(0))
            yield f"{one.arrival.name} fills its last block and takes {_named(one.blocks[-1:])}"


def _named(blocks: list[int]) -> str:
    numbers = [str(block + 1) for block in blocks]
    if len(numbers) == 1:
        return f"block {numbers[0]}"
    return f"blocks {', '.join(numbers[:-1])} and {numbers[-1]}"

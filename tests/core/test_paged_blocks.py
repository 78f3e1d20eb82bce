"""The story of the paged cache obeys the rule that it tells, at every step."""

from itertools import pairwise

import pytest

from core.paged_blocks import ARRIVALS, BLOCK_TOKENS, LONGEST, NUM_BLOCKS, Arrival, story

FRAMES = story()


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: f"step {frame.step}")
def test_no_block_has_two_owners_and_only_last_blocks_have_room(frame):
    blocks = [block for one in frame.held for block in one.blocks]
    assert len(blocks) == len(set(blocks))
    assert all(0 <= block < NUM_BLOCKS for block in blocks)
    assert frame.free_blocks == NUM_BLOCKS - len(blocks)
    for one in frame.held:
        assert len(one.blocks) == -(-one.tokens // BLOCK_TOKENS)
        assert [one.filled(block) for block in one.blocks[:-1]] == [BLOCK_TOKENS] * (len(one.blocks) - 1)
        assert 1 <= one.filled(one.blocks[-1]) <= BLOCK_TOKENS
        assert one.empty == BLOCK_TOKENS - one.filled(one.blocks[-1]) < BLOCK_TOKENS
    assert frame.empty == sum(one.empty for one in frame.held)
    assert frame.in_one_piece == LONGEST * len(frame.held)


def test_a_request_keeps_its_blocks_and_grows_by_a_token_a_step():
    for before, after in pairwise(FRAMES):
        now = {one.name: one for one in after.held}
        for one in before.held:
            if one.name in now:
                assert now[one.name].tokens == one.tokens + 1
                assert now[one.name].blocks[: len(one.blocks)] == one.blocks


def test_everyone_is_served_to_the_end():
    longest = {one.name: one.tokens for frame in FRAMES for one in frame.held}
    assert longest == {arrival.name: arrival.prompt + arrival.answer for arrival in ARRIVALS}
    assert FRAMES[-1].held == ()
    assert max(longest.values()) <= LONGEST


def test_the_story_shows_a_block_reused_out_of_order_and_a_request_that_waits():
    assert any(one.blocks != tuple(sorted(one.blocks)) for frame in FRAMES for one in frame.held)
    assert any("waits for" in frame.words for frame in FRAMES)
    assert any("gives" in frame.words and "comes with" in frame.words for frame in FRAMES)
    assert any(frame.in_one_piece > NUM_BLOCKS * BLOCK_TOKENS for frame in FRAMES)


def test_a_single_request_takes_blocks_as_it_fills_them():
    frames = story((Arrival("A", 0, 1, 4),), num_blocks=3)
    assert [one.blocks for frame in frames for one in frame.held] == [(0,)] * 4 + [(0, 1)]
    assert frames[0].words == "A comes with 1 tokens and takes block 1"
    assert frames[1].words == "every request grows by a token"

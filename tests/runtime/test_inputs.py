"""Clock and entropy: recorded, given again, never the machine's own."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from isolith_runtime.inputs import RESOLUTION_NS, Inputs, Recording

MS = 1_000_000


@dataclass
class Clock:
    """A monotonic clock that is set by hand."""

    now: int = 5 * MS

    def __call__(self) -> int:
        return self.now


def inputs_with(clock: Clock) -> Inputs:
    return Inputs(seed=b"seed", started_ns=1000 * MS, monotonic_ns=clock)


def replay_with(recording: Recording, clock: Clock) -> Inputs:
    inputs = Inputs.replay(recording)
    inputs.monotonic_ns = clock
    inputs.__post_init__()
    return inputs


def test_time_moves_in_steps() -> None:
    clock = Clock()
    inputs = inputs_with(clock)
    assert inputs.wall_ns() == 1000 * MS
    clock.now += RESOLUTION_NS - 1
    assert inputs.wall_ns() == 1000 * MS
    clock.now += 1
    assert inputs.wall_ns() == 1001 * MS
    steady = inputs.steady_ns()
    clock.now += 10 * MS
    assert inputs.steady_ns() - steady == 10 * MS


def test_time_never_goes_back() -> None:
    clock = Clock()
    inputs = inputs_with(clock)
    clock.now += 50 * MS
    before = inputs.wall_ns()
    clock.now -= 20 * MS
    assert inputs.wall_ns() == before


STEPS = st.lists(st.integers(0, 3 * MS), max_size=40)


@given(STEPS, STEPS, STEPS)
def test_a_replay_reads_what_was_read(steps: list[int], other_steps: list[int], later: list[int]) -> None:
    """Even behind the last move of the clock, where a replay once took the machine's own time."""
    clock = Clock()
    original = inputs_with(clock)
    read = [tick(clock, original, step) for step in steps]
    recording = original.recording()
    again = Clock(77 * MS)
    replay = replay_with(recording, again)
    paces = [*other_steps, *([MS] * len(steps))][: len(steps)]
    assert [tick(again, replay, step) for step in paces] == read
    assert replay.recording() == recording
    onwards = [tick(again, replay, step) for step in later]
    assert onwards == sorted(onwards)
    assert not read or not onwards or read[-1] <= onwards[0] <= read[-1] + later[0] + MS


def tick(clock: Clock, inputs: Inputs, step: int) -> int:
    clock.now += step
    return inputs.wall_ns()


def test_a_replay_of_a_replay() -> None:
    clock = Clock()
    original = inputs_with(clock)
    read = [tick(clock, original, 2 * MS) for _ in range(5)]
    second = replay_with(original.recording(), clock)
    read_again = [tick(clock, second, 2 * MS) for _ in range(9)]
    third = replay_with(second.recording(), Clock())
    assert [third.wall_ns() for _ in range(9)] == read_again
    assert read_again[:5] == read


def test_entropy_is_the_seeds() -> None:
    one, two, other = Inputs(seed=b"a"), Inputs(seed=b"a"), Inputs(seed=b"b")
    drawn = [one.entropy(16) for _ in range(10)]
    assert drawn == [two.entropy(16) for _ in range(10)]
    assert len({*drawn, *(other.entropy(16) for _ in range(10))}) == 20
    assert [len(one.entropy(size)) for size in (0, 1, 1000)] == [0, 1, 1000]
    assert one.random_seed == two.random_seed != other.random_seed


def test_a_guest_reads_every_seed_in_as_many_instructions() -> None:
    seeds = {Inputs(seed=bytes([number])).random_seed for number in range(256)}
    assert len(seeds) == 256
    assert {len(seed) for seed in seeds} == {43}
    assert set("".join(seeds)) == set("01234567")


def test_a_steady_clock_never_shows_a_whole_second() -> None:
    clock = Clock()
    inputs = inputs_with(clock)
    for _ in range(3000):
        clock.now += MS
        assert inputs.steady_ns() % 10**9 != 0


def test_no_two_runs_are_alike() -> None:
    assert Inputs().entropy(16) != Inputs().entropy(16)
    assert Inputs().random_seed != Inputs().random_seed


def test_a_replay_draws_the_same() -> None:
    original = Inputs()
    drawn = [original.entropy(8) for _ in range(3)]
    replay = Inputs.replay(original.recording())
    assert [replay.entropy(8) for _ in range(3)] == drawn
    assert replay.random_seed == original.random_seed

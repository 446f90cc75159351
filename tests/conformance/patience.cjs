// Loaded before the suite: the half second, or one and a half, for which it waits for what comes on a stream is short
// for a busy machine, and is made ten seconds. What comes sooner ends the waiting as before.
const plain = globalThis.setTimeout;
globalThis.setTimeout = (work, ms, ...more) => plain(work, ms >= 500 && ms <= 1500 ? 10_000 : ms, ...more);

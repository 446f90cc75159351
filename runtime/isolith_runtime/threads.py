"""Threads that run guests: with a stack far above what a guest may use, made on demand, gone when idle.

A guest that waits synchronously keeps its thread; the others share.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from isolith_runtime import heap
from isolith_runtime.engine import THREAD_STACK

MAX_THREADS = 512
_IDLE_S = 2.0

Job = Callable[[], object]


class GuestThreads:
    """Runs jobs, each as soon as a thread is free; at most `most` at a time, the rest wait in order."""

    def __init__(self, most: int = MAX_THREADS, name: str = "isolith-guest") -> None:
        heap.bound()  # each thread has a heap of its own
        self._most = most
        self._name = name
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads: set[threading.Thread] = set()
        self._free = 0
        self._queued = 0

    def submit(self, job: Job) -> None:
        """Run a job, which must not raise."""
        with self._lock:
            self._queued += 1
            if self._queued > self._free and len(self._threads) < self._most:
                self._start()
        self._jobs.put(job)

    def _start(self) -> None:
        with _stack_size_lock:
            before = threading.stack_size(THREAD_STACK)
            try:
                thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                thread.start()
                self._threads.add(thread)
                self._free += 1
            finally:
                threading.stack_size(before)

    def _work(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=_IDLE_S)
            except queue.Empty:
                with self._lock:
                    if self._queued:  # a job is on its way to a thread that waits
                        continue
                    self._leave()
                if not self._threads:
                    heap.give_back()
                return
            with self._lock:
                if job is None:
                    self._leave()
                    return
                self._queued -= 1
                self._free -= 1
            job()
            with self._lock:
                self._free += 1

    def _leave(self) -> None:
        self._free -= 1
        self._threads.discard(threading.current_thread())

    @property
    def count(self) -> int:
        """How many threads there are."""
        return len(self._threads)

    def close(self) -> None:
        """End the threads that are idle now and every other when its job is done; waits for them."""
        with self._lock:
            threads = list(self._threads)
        for _ in threads:
            self._jobs.put(None)
        for thread in threads:
            thread.join()


_stack_size_lock = threading.Lock()

"""What the ranks of kith.mpi say to each other: errors that all raise, and messages of any length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

# Counts of MPI have 31 bits: longer messages travel in pieces.
MOST_IN_A_MESSAGE = 2**30


class Ranks:
    """What the ranks say to each other."""

    def __init__(self, comm: Any) -> None:
        from mpi4py import MPI

        self.comm, self._mpi = comm.Dup(), MPI

    def together(self, work: Callable[[], T]) -> T:
        """What `work` returns here, once it has ended at all ranks; if it failed at one, all fail."""
        error: BaseException | None = None
        try:
            result = work()
        except Exception as failure:
            error = failure
        # Most phases end well: one number tells so.
        failed = self.comm.allreduce(self.comm.size if error is None else self.comm.rank, self._mpi.MIN)
        if failed == self.comm.size:
            return result
        told = self.comm.bcast(
            None if error is None else (_kind_of(error), str(error)), root=failed
        )
        if error is not None:
            raise error
        kind, words = told
        raise kind(f"rank {failed}: {words}")

    def exchange(self, messages: Sequence[bytes]) -> list[bytes | bytearray]:
        """Sends a message to each rank, and returns those that each rank sent here."""
        comm, me, byte = self.comm, self.comm.rank, self._mpi.BYTE
        lengths = np.array([len(message) for message in messages], dtype=np.int64)
        incoming = np.empty_like(lengths)
        comm.Alltoall(lengths, incoming)
        received: list[Any] = [bytearray(int(length)) for length in incoming]
        received[me] = messages[me]
        waiting = []
        for step in range(1, comm.size):
            source, target = (me - step) % comm.size, (me + step) % comm.size
            into, out = memoryview(received[source]), memoryview(messages[target])
            for begin in range(0, len(into), MOST_IN_A_MESSAGE):
                waiting.append(comm.Irecv([into[begin : begin + MOST_IN_A_MESSAGE], byte], source))
            for begin in range(0, len(out), MOST_IN_A_MESSAGE):
                waiting.append(comm.Isend([out[begin : begin + MOST_IN_A_MESSAGE], byte], target))
        self._mpi.Request.Waitall(waiting)
        return received

    def exchange_arrays(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The same for arrays of one type; what comes has one dimension."""
        parts = self.exchange([np.ascontiguousarray(array).tobytes() for array in arrays])
        return [np.frombuffer(part, arrays[0].dtype) for part in parts]

    def sum(self, counts: np.ndarray) -> np.ndarray:
        total = np.empty_like(counts)
        self.comm.Allreduce(counts, total)
        return total


def _kind_of(error: BaseException) -> type[BaseException]:
    """A class that every rank has, and that takes one message."""
    for kind in type(error).__mro__:
        if kind in (
            ValueError, TypeError, IndexError, MemoryError, ImportError, OSError, RuntimeError,
        ):
            return kind
    return RuntimeError

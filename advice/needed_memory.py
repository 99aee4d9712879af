"""Compare the bytes that are needed on a device with a capacity."""

from abc import ABC, abstractmethod


class NeededMemory(ABC):
    """Bytes that are needed, and the capacity."""

    __slots__ = ()
    capacity_bytes: int | None
    """Capacity; None if it is not given."""

    @property
    @abstractmethod
    def needed_bytes(self) -> int:
        """Bytes that are needed; the least number, if there are bounds."""

    @property
    def fits(self) -> bool | None:
        """True if the needed bytes do not exceed the capacity; None without a capacity."""
        return None if self.capacity_bytes is None else not self.missing_bytes

    @property
    def missing_bytes(self) -> int | None:
        """Needed bytes beyond the capacity, 0 if it fits; None without a capacity."""
        if self.capacity_bytes is None:
            return None
        return max(0, self.needed_bytes - self.capacity_bytes)

    @property
    def free_bytes(self) -> int | None:
        """Bytes of the capacity that are left, 0 if it does not fit; None without a capacity."""
        if self.capacity_bytes is None:
            return None
        return max(0, self.capacity_bytes - self.needed_bytes)

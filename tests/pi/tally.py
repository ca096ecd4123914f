"""What was compared in a run; told at its end, so that nobody mistakes nothing for everything."""

from dataclasses import dataclass


@dataclass(slots=True)
class Tally:
    """Counts of a test run."""

    sessions: int = 0
    entries: int = 0
    markers: int = 0
    observations: int = 0

    def sentence(self) -> str | None:
        """None where nothing was compared."""
        if not (self.entries or self.observations):
            return None
        return (
            f"{self.entries:,} entries of {self.sessions:,} sessions and {self.markers:,} markers"
            f" compared, {self.observations:,} moments of growing files observed"
        )


TALLY = Tally()

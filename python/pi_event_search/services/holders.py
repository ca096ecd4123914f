"""Which of the visible sessions a question is put to.

Said by workspaces and by what is left out of them, never as a list, so that a question costs the
same however many sessions there are.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from pi_event_search.access.visible import Visible
from pi_event_search.store.text_query import TextFilter


@dataclass(frozen=True)
class Holders:
    """Some of the visible sessions, asked for by the number of their epoch."""

    visible: Visible
    workspaces: Set[int]
    only: int | None = None
    """The one session that is asked; ``None``: all of the workspaces."""
    without: int | None = None
    """A session that is not asked."""

    def __contains__(self, epoch: int) -> bool:
        if epoch == self.without or (self.only is not None and epoch != self.only):
            return False
        session = self.visible.sessions.get(epoch)
        return session is not None and session.workspace in self.workspaces

    def filter(self) -> TextFilter:
        """The same as the engine is told it: whole workspaces, less single sessions. It only must
        not fill pages with what the rows refuse in the end."""
        if self.only is not None:
            return TextFilter(epochs=[self.only] if self.only in self else [])
        restriction = self._whole()
        if self.without is None:
            return restriction
        return restriction._replace(
            without_epochs=sorted((*restriction.without_epochs, self.without))
        )

    def _whole(self) -> TextFilter:
        outside = self.visible.elsewhere | (self.visible.workspaces.keys() - self.workspaces)
        strangers = self.visible.strangers
        restriction = TextFilter(
            without_epochs=[epoch for epoch, number in strangers if number in self.workspaces]
        )
        if not outside:
            return restriction
        if len(outside) < len(self.workspaces):
            return restriction._replace(without_workspaces=sorted(outside))
        return restriction._replace(workspaces=sorted(self.workspaces))

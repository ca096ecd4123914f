"""The error tree."""

import pickle

import pytest
from pi_event_search import errors
from pi_event_search.errors import (
    EventSearchError,
    IndexBusy,
    IndexProblem,
    InvalidArgument,
    InvalidQuery,
    NotFound,
)

CODES: dict[type[EventSearchError], str] = {
    EventSearchError: "INTERNAL",
    InvalidQuery: "INVALID_QUERY",
    InvalidArgument: "INVALID_ARGUMENT",
    NotFound: "NOT_FOUND",
    IndexBusy: "INDEX_BUSY",
    IndexProblem: "INDEX_ERROR",
}


def test_each_class_has_its_code_and_hangs_under_the_base() -> None:
    assert {kind: kind.code for kind in CODES} == CODES
    assert all(issubclass(kind, EventSearchError) for kind in CODES)


def test_the_drawn_tree_names_every_class_and_code() -> None:
    drawn = errors.__doc__ or ""
    for kind, code in CODES.items():
        assert kind.__name__ in drawn
        assert code in drawn or kind is EventSearchError


def test_not_found_has_one_message_and_takes_no_other() -> None:
    assert str(NotFound()) == NotFound().message
    with pytest.raises(TypeError):
        NotFound("session x exists but is not yours")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "error", [NotFound(), IndexBusy(), InvalidArgument("limit is wrong", argument="limit")]
)
def test_errors_survive_a_process_border(error: EventSearchError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert (copy.message, copy.__dict__) == (error.message, error.__dict__)

"""`pi-event-search serve`: JSON-RPC 2.0 over standard input and output, for tool bridges.

    frames -> protocol -> server (threads) -> methods -> engine -> EventIndex
                                                          └── catch_up: brings the index up to date

One frame is one line. Nothing about sessions outside the caller's workspace leaves here, and no
path of a session file or of the index does: those stand in the log beside the index.
"""

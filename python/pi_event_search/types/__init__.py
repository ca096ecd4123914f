"""Everything that goes into the services and comes out of them, a module for each question.

Nothing is gathered here: defining one of these classes takes most of a millisecond, and who asks
one question should not have to wait for the answers to all others.
"""

"""Audits: is a video benchmark really about video?

The principles of TVBench (TOMATO, section 3) for any video task of the harness, unchanged: its
questions are asked again with the frames shuffled, with a single frame and without any, and what
is left of its accuracy says what it needs.

============  ====================================================================
variants      the conditions, by name
documents     id, video, options and answer of a document, whatever its schema
visuals       a task's visuals under a condition
scores        whether an item is right, as the task's own metric says
plan          what an audit asks; its file
derive        a YAML and a module for each task and condition
hooks         what those call
judge         from the logs to the numbers
verdict       from the numbers to sentences
findings      the questions to throw out
show          the audit in the terminal and as Markdown
read          the audit from its files, for the report
============  ====================================================================
"""

"""Audits: is a video benchmark really about video?

The principles of TVBench (TOMATO, section 3) for any video task of the harness, unchanged: its
questions are asked again with the frames shuffled, with a single frame and without any, and what
is left of its accuracy shows what it needs. Modules import only those above them.

============  ====================================================================
variants      the conditions: name, label, words and role of each
schemas       id, video, options and answer of a document, whatever its columns
plan          what an audit asks; its file
network       no aggregation sends anything anywhere
scores        whether a question is right, as the task's own metric says
visuals       a task's visuals under a condition
notes         what the generated tasks note for the evaluation
hooks         what the generated tasks call
derive        a YAML and a module for each task and condition
preflight     what is checked before a model is loaded
result        the results, and the files that they are written to and read from
measures      what the answers say besides: gains, flips, letters, draws, classes
verdict       from the numbers to sentences
evaluate      from the logs to the numbers
findings      the questions to throw out
output        the audit in the terminal and as Markdown
run           all of it in order
============  ====================================================================
"""

"""People answer a benchmark's questions, and rate what was answered in free text.

``questions`` is what they are asked, ``answers`` the file of their answers, ``log`` turns it into
a run of the harness, ``ratings`` is the forms for free text and their file, ``server`` the page,
``agreement`` how alike people answer. Only ``server`` needs FastAPI, and only ``log`` the harness.
"""

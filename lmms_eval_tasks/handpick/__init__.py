"""Handpicking: a person, or a model in a person's place, picks the frame that tells most.

``record`` is the picks file, ``items`` the questions to pick for, ``frames`` the pictures,
``server`` the local page, ``exchange`` CSV and the way into the store, ``agreement`` how alike
annotators pick, ``automatic`` the stand-in by a CLIP model. Only ``server`` needs FastAPI.
"""

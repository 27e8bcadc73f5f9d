"""Handpicking: a person picks the frame that tells most about a question's answer.

``record`` is the picks file, ``items`` the questions to pick for, ``server`` the local page,
``exchange`` CSV and the way to the tasks, ``agreement`` how alike annotators pick. Only
``server`` needs FastAPI.
"""

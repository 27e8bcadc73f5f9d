"""Local pages on which people work: what they share.

``server`` is the guarded server on loopback, ``journal`` the file that is only ever appended to,
``frames`` the pictures and videos, ``templates/base.html``, ``page.css`` and ``common.js`` the page
around what one of them adds. Only ``server`` needs FastAPI.
"""

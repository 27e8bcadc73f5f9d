"""``sample_observer``: a model that really looks at its frames."""

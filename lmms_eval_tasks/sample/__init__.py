"""The sample benchmark: drawn videos and questions with known answers."""

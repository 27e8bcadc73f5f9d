"""BlackSwanSuite: prompts and scoring as the harness calls them."""

"""Questions over real footage, in the three benchmarks' release layouts."""

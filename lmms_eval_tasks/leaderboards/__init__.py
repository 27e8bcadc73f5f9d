"""Files for the benchmarks' leaderboards."""

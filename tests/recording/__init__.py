"""Scripts that made the recorded data of the catalog and of the tests; run by hand, never by the suite."""

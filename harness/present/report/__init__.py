"""The report: one HTML page that needs nothing besides itself."""

"""The files that runs and probes leave behind: one writer (standard library only), one reader."""

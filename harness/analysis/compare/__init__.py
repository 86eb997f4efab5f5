"""One configuration against another: changes, and what else differed."""

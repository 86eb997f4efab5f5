"""What a driver on a node of the cluster and the command that submitted it agree on.

The driver delivers what it prints and records to a staging directory on the cluster's file system. A
collector, a process beside the command, fetches it from there: jobs/outbox.py and jobs/collect.py are the two
ends.
"""

STAGING = "CLUSTERLIFT_STAGING"
"""The environment variable that gives a driver the URI of its staging directory."""

READY_LINE = "clusterlift: staging directory "
"""The collector prints this, and after it the URI, as soon as the application may start."""

NO_APPLICATION = 3
"""The collector's exit code if no application was submitted; otherwise it is the driver's."""

LEASE_S = 60.0
"""A driver whose lease was not renewed for so long ends, because nobody waits for it any more."""

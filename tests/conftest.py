"""What holds for every test, on any machine and however the tests are started."""

import gc
import os
import signal

from hypothesis import HealthCheck, settings

# Properties are about values. A duration depends on the machine and on its other users.
settings.register_profile(
    "any-machine",
    deadline=None,
    max_examples=int(os.environ.get("EXAMPLES") or 25),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("any-machine")

# A shell that starts the tests in the background, or nohup, makes them and all that they start ignore these.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over thousands of tests, which live as long as this process."""
    gc.freeze()

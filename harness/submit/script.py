"""Starts an entry script of the checkout under spark-submit on this machine."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness.base.child_process import run_to_its_end
from harness.base.errors import BadInput, ClusterliftError
from harness.base.failure_reason import failure_reason
from harness.submit.local_spark import run_spark_submit, spark_environment, spark_submit_command
from harness.submit.usual_lines import left_out

ROOT = Path(__file__).resolve().parents[2]
GENERATE = "datagen/generate.py"
BENCHMARK = "jobs/benchmark.py"


def script_path(script: str) -> str:
    """Return the path of an entry script of the checkout. Raise BadInput if there is no checkout."""
    if not (ROOT / script).is_file():
        raise BadInput(f"{ROOT / script} does not exist; run clusterlift from a checkout")
    return str(ROOT / script)


def run_script(
    script: str,
    options: Sequence[str],
    arguments: Sequence[str],
    environment: Mapping[str, str],
    *,
    before: Sequence[str] = (),
    meanwhile: Callable[[], None] = lambda: None,
    shows_usual_lines: bool = False,
) -> int:
    """Run a script with options of spark-submit, and return its exit code.

    `environment` is added to the environment of this process. The words `before` the command say where it
    runs. `meanwhile` is called several times a second. The lines that every start of Spark prints are shown
    if `shows_usual_lines`. Ctrl-C, SIGTERM and the death of this process interrupt the script. Raise
    KeyboardInterrupt then, and if another signal ended it.
    """
    command = [*before, *spark_submit_command(), *options]
    command += [script_path(script), *arguments]
    return run_to_its_end(
        command,
        {**spark_environment(), **environment},
        meanwhile,
        is_left_out=left_out(shows_usual_lines=shows_usual_lines),
    )


def run_script_silently(script: str, *arguments: str, options: Sequence[str] = ()) -> None:
    """Run a script to its end. Its output is shown only as part of an error.

    Raise BadInput if there is no Spark or no checkout. If the script fails, raise its own error message as
    BadInput or ClusterliftError.
    """
    done = run_spark_submit(*options, script_path(script), *arguments)
    if done.returncode:
        raise script_error(done.stdout.splitlines(), script, done.returncode)


def script_error(lines: Sequence[str], script: str, code: int) -> ClusterliftError:
    """Return the error that a script printed before it ended with this code, or Spark's error."""
    program = Path(script).name
    kind = ClusterliftError
    if code == BadInput.exit_code:
        kind = BadInput
    prefix = f"{program}: "
    printed = [line for line in lines if line.startswith(prefix)]
    if printed:
        return kind(printed[-1].removeprefix(prefix).removeprefix("error: "))
    reason = failure_reason("\n".join(lines)) or "it printed nothing"
    return kind(f"spark-submit {program} failed: {reason}")

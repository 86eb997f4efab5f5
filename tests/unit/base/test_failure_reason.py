"""The reason of a failure, among all that programs print."""

import subprocess
from pathlib import Path

import pytest

from harness.base.failure_reason import (
    cause_or_first_line,
    failure_reason,
    innermost_cause,
    is_turned_away,
    missing_program,
    reason_of,
    stated_error,
)
from tests.tracked import ROOT

BANNER = "****\r\nUse without permission is denied.\r\nReport errors to it@example.org\r\n****\r\n"
PLAIN_BANNER = "Authorised use only.\nAll errors are logged; access is denied to others.\n"
FORWARD = (
    "bind [127.0.0.1]:8080: Address already in use\n"
    "channel_setup_fwd_listener_tcpip: cannot listen to port: 8080\n"
    "Could not request local forwarding.\n"
)
POST_QUANTUM = (
    "** WARNING: connection is not using a post-quantum key exchange algorithm.\n"
    '** This session may be vulnerable to "store now, decrypt later" attacks.\n'
    "** The server may need to be upgraded. See https://openssh.com/pq.html\n"
)
PRELOAD = (
    "ERROR: ld.so: object 'libgtk3-nocsd.so.0' from LD_PRELOAD cannot be preloaded "
    "(cannot open shared object file): ignored.\n"
)
NO_LOCALE = (
    "bash: warning: setlocale: LC_ALL: cannot change locale (xx_XX.UTF-8): No such file or directory\n"
    "perl: warning: Setting locale failed.\n"
)
NO_TERMINAL = (
    "stty: 'standard input': Inappropriate ioctl for device\n"
    "mesg: ttyname failed: Inappropriate ioctl for device\nstdin: is not a tty\n"
    "tput: No value for $TERM and no -T specified\nbash: no job control in this shell\n"
)
NOISE = {
    "nothing": "",
    "a banner in a frame": BANNER,
    "a title": "\x1b]0;me@a\x07",
    "forwarding": FORWARD,
    "post-quantum": POST_QUANTUM,
    "preload": PRELOAD,
    "locale": NO_LOCALE,
    "terminal": NO_TERMINAL,
    "known hosts": "Warning: Permanently added '10.0.0.4' (ED25519) to the list of known hosts.\r\n",
    "debug": "OpenSSH_9.2p1 Debian, OpenSSL 3.0\r\ndebug1: Failed to open /root/.ssh/config\r\n",
    "library": "libibverbs: Warning: couldn't load driver 'x.so': cannot open shared object file\n",
    "home": "Could not chdir to home directory /home/me: No such file or directory\r\n",
    "groups": "groups: cannot find name for group ID 1001\n",
    "startup files": (
        "/home/me/.bashrc: line 5: brew: command not found\n"
        "-bash: /etc/profile.d/x.sh: line 2: syntax error near unexpected token `fi'\n"
        "/root/.zshrc:12: command not found: pyenv\n"
        "sh: 9: /root/.profile: cannot open /root/.cargo/env: No such file\n"
        "CommandNotFoundError: Your shell has not been properly configured to use 'conda activate'.\n"
    ),
    "java": (
        "Picked up JAVA_TOOL_OPTIONS: -Donerror=stop\n"
        'SLF4J: Failed to load class "org.slf4j.impl.StaticLoggerBinder".\n'
        "ERROR StatusLogger No Log4j 2 configuration file found.\n"
    ),
    "display": "Invalid MIT-MAGIC-COOKIE-1 key\nNo protocol specified\nlibGL error: MESA-LOADER\n",
    "json": '{"error": "none"}\n  "errors": 1,\n',
}
CHANGED_KEY = """@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!
Please contact your system administrator.
Offending ED25519 key in /root/.ssh/known_hosts:3
Host key for a has changed and you have requested strict checking.
Host key verification failed.
"""
SSH = {
    "me@a: Permission denied (publickey).": "{}",
    "Received disconnect from 10.9.0.4 port 22:2: Too many authentication failures": (
        "{}\nDisconnected from 10.9.0.4 port 22"
    ),
    "ssh: connect to host bastion port 22: Connection refused": (
        "{}\r\nConnection closed by UNKNOWN port 65535"
    ),
    "ssh: Could not resolve hostname bastion: Name or service not known": (
        "{}\nkex_exchange_identification: Connection closed by remote host\n"
        "Connection closed by UNKNOWN port 65535"
    ),
    "channel 0: open failed: connect failed: No route to host": (
        "{}\nstdio forwarding failed\nConnection closed by UNKNOWN port 65535"
    ),
    "Host key for a has changed and you have requested strict checking.": CHANGED_KEY,
    "kex_exchange_identification: Connection closed by remote host": (
        "{}\nConnection closed by 10.9.0.4 port 22"
    ),
    "Connection reset by 10.9.0.4 port 22": "{}",
    "Connection closed by UNKNOWN port 65535": "{}",
    "/bin/sh: 1: exec: nc: not found": "{}\nConnection closed by UNKNOWN port 65535",
    'nc: getaddrinfo for host "bastion" port 22: Name or service not known': (
        "{}\nkex_exchange_identification: Connection closed by remote host\n"
        "Connection closed by UNKNOWN port 65535"
    ),
    "websocket: bad handshake": (
        "{}\nkex_exchange_identification: Connection closed by remote host\n"
        "Connection closed by UNKNOWN port 65535"
    ),
    "An error occurred (TargetNotConnected) when calling the StartSession operation: i-0 is not connected.": (
        "\n{}\nkex_exchange_identification: Connection closed by remote host\n"
        "Connection closed by UNKNOWN port 65535"
    ),
    '"System is booting up. Unprivileged users are not permitted to log in yet. Please come back later."': (
        "{}\nConnection closed by 10.9.0.4 port 22"
    ),
    "Connection timed out during banner exchange": ("{}\nConnection to 10.9.0.4 port 22 timed out"),
    "Unable to negotiate with 10.9.0.4 port 22: no matching host key type found.": "{}",
    "exec request failed on channel 0": "{}",
    "/root/.ssh/config: line 3: Bad configuration option: hosst": (
        "{}\n/root/.ssh/config: terminating, 1 bad configuration options"
    ),
    "Timeout, server a not responding.": "{}",
    "Your account has expired; please contact your system administrator.": (
        "{}\nConnection closed by 10.9.0.4 port 22"
    ),
    "System is going down. Unprivileged users are not permitted to log in anymore.": (
        "\n{}\n\nConnection closed by 10.9.0.4 port 22"
    ),
    'Load key "/root/.ssh/id": bad permissions': (
        "@@@@@@@@\n@  WARNING: UNPROTECTED PRIVATE KEY FILE!  @\n@@@@@@@@\n"
        "Permissions 0644 for '/root/.ssh/id' are too open.\n{}\nme@a: Permission denied (publickey).\n"
    ),
}
DASHES = f"{'-' * 74}\n"
ABORTED = "MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD with errorcode 1."
ABORT = f"{DASHES}{ABORTED.replace(' with', chr(10) + 'with')}\n{DASHES}"
EXITED = (
    f"{DASHES}Primary job  terminated normally, but 1 process returned\na non-zero exit code. "
    f"Per user-direction, the job has been aborted.\n{DASHES}"
)
HPL = "HPL ERROR from process # 0, on line 419 of function HPL_pdinfo:"
PROGRAMS = {
    "fio: error while loading shared libraries: libaio.so.1: cannot open shared object file: "
    "No such file or directory": "{}",
    "Error loading shared library libiperf.so.0: No such file or directory (needed by /usr/bin/iperf3)": (
        "{}\nError relocating /usr/bin/iperf3: iperf_strerror: symbol not found"
    ),
    "iperf3: /lib/libc.so.6: version `GLIBC_2.34' not found (required by iperf3)": "{}",
    "fio: pid=0, err=-1/file:ioengines.c:112, func=dlopen, error=libaio.so.1: cannot open shared object "
    "file: No such file or directory": "{}\nfio: failed to load engine",
    "ping: unrecognized option: M": (
        "{}\nBusyBox v1.36.1 multi-call binary.\n\nUsage: ping [OPTIONS] HOST\n\nSend packets\n\n"
        "\t-c CNT\t\tSend only CNT pings\n\t-p HEXBYTE\tPayload pattern\n"
    ),
    "ping: invalid argument: '0': out of range: 1 <= value <= 9223372036854775807": (
        "{}\n\nUsage\n  ping [options] <destination>\n\nFor more details see ping(8).\n"
    ),
    "probe.py: error: unrecognized arguments: --colour": (
        "usage: probe.py [-h]\n                [--failures N]\n{}\n"
    ),
    "tc: bad rate": "{}\nUsage: ... tbf limit BYTES\n\t[ mtu BYTES ]\nWhere: RATE is one of these\n",
    "iperf3: error - unable to connect to server: Connection refused": "note\n{}\niperf3: exiting\n",
    "RTNETLINK answers: Network is unreachable": "{}",
    "Error response from daemon: No such container: n1": (
        "{}\n\nWhat's next:\n    Try Docker Debug for seamless debugging tools\n"
    ),
    "error: unable to upgrade connection: container not found": (
        'Defaulted container "a" out of: a, b\n{}\n'
    ),
    "The connection to the server 10.0.0.1:6443 was refused - did you specify the right host or port?": (
        "E1128 12:00:00.000000      12 memcache.go:265] couldn't get current server API group list: "
        'Get "https://10.0.0.1:6443/api": dial tcp 10.0.0.1:6443: connect: connection refused\n{}\n'
    ),
    "docker: Error response from daemon: pull access denied for foo.": (
        "Unable to find image 'foo:latest' locally\n{}\n\nRun 'docker run --help' for more information\n"
    ),
    "Abort(1) on node 0: Fatal error in internal_Init: Other MPI error, error stack: fi_getinfo() failed": (
        "Abort(1) on node 0: Fatal error in internal_Init: Other MPI error, error stack:\n"
        "internal_Init(70)...........: MPI_Init(argc=(nil), argv=(nil)) failed\n"
        "MPII_Init_thread(268).......: \nMPIDI_OFI_mpi_init_hook(): fi_getinfo() failed\n"
    ),
    "sudo: a password is required": (
        "sudo: unable to resolve host n1: Name or service not known\n{}\n"
    ),
    "[n1:12] Signal: Segmentation fault (11)": (
        "[n1:12] *** Process received signal ***\n{}\n[n1:12] Signal code: Address not mapped (1)\n"
        "[n1:12] Failing at address: (nil)\n[n1:12] *** End of error message ***\n"
    ),
    "[n1:12] *** An error occurred in MPI_Init": (
        "{}\n[n1:12] *** reported by process [1,0]\n[n1:12] *** Unknown error\n"
        "[n1:12] *** MPI_ERRORS_ARE_FATAL (processes in this communicator will now abort,\n"
        "[n1:12] ***    and potentially your MPI job)\n"
    ),
    "Could not reserve enough space for 8388608KB object heap": (
        "Error occurred during initialization of VM\n{}\n"
    ),
    "Error occurred during initialization of VM Initial heap size is larger than the maximum": (
        "Error occurred during initialization of VM\nInitial heap size is larger than the maximum\n"
    ),
    "# A fatal error has been detected by the Java Runtime Environment: SIGSEGV (0xb) at pc=0x7f, pid=1": (
        "#\n# A fatal error has been detected by the Java Runtime Environment:\n#\n"
        "#  SIGSEGV (0xb) at pc=0x7f, pid=1\n#\n# JRE version: OpenJDK\n"
    ),
    "Error: LinkageError occurred while loading main class a.Main java.lang.UnsupportedClassVersionError: "
    "a/Main (version 61.0)": (
        "Error: LinkageError occurred while loading main class a.Main\n"
        "\tjava.lang.UnsupportedClassVersionError: a/Main (version 61.0)\n"
        "/opt/spark/bin/spark-class: line 97: CMD: bad array subscript\n"
    ),
    "26/01/02 03:04:05 ERROR StandaloneSchedulerBackend: Application has been killed. Reason: All masters "
    "are unresponsive! Giving up.": (
        "{}\n26/01/02 03:04:05 ERROR SparkContext: Error initializing SparkContext.\n"
        "java.lang.IllegalArgumentException: requirement failed: Can only call getServletHandlers on a "
        "running MetricsSystem\n\tat scala.Predef$.require(Predef.scala:281)\n"
    ),
    "java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.": (
        "py4j.protocol.Py4JJavaError: An error occurred while calling None.JavaSparkContext.\n: {}\n"
        "\tat org.apache.spark.SparkContext.assertNotStopped(SparkContext.scala:120)\n"
    ),
    "# There is insufficient memory for the Java Runtime Environment to continue.": (
        "#\n{}\n# Native memory allocation (mmap) failed to map 1073741824 bytes.\n"
        "# An error report file with more information is saved as:\n# /tmp/hs_err_pid1.log\n"
    ),
    "the disk is asleep": "{}\ncommand terminated with exit code 1\n",
    "hpcc: hpcc.c:77: main: Assertion `n > 0' failed.": f"{{}}\n{EXITED}",
    ABORTED: ABORT,
    f"{HPL} Need at least 4 processes": f"{HPL}\n>>> Need at least 4 processes <<<\n\n{ABORT}",
    "terminate called after throwing an instance of 'std::bad_alloc' what():  std::bad_alloc": (
        "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n"
    ),
    "Fortran runtime error: End of file": "At line 31 of file x.f90\n{}\n\nError termination. Backtrace:\n",
    "KeyError: 'rate'": (
        'Traceback (most recent call last):\n  File "p.py", line 1, in <module>\n    {{}}["rate"]\n'
        "    ~~~~^^^^^^\n{}\n"
    ),
}


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
@pytest.mark.parametrize(("reason", "printed"), {**SSH, **PROGRAMS}.items())
def test_the_reason_stands_out_from_noise(noise: str, reason: str, printed: str) -> None:
    assert failure_reason(noise + printed.format(reason)) == reason


@pytest.mark.parametrize(("reason", "printed"), SSH.items())
def test_what_ssh_says_of_itself_counts_more_than_any_banner(reason: str, printed: str) -> None:
    assert failure_reason(PLAIN_BANNER + printed.format(reason)) == reason


@pytest.mark.parametrize(
    "noise",
    [NOISE[name] for name in NOISE if name not in {"forwarding", "library", "startup files"}],
)
def test_noise_alone_is_no_reason(noise: str) -> None:
    assert failure_reason(noise) == ""


@pytest.mark.parametrize(
    "unusable",
    [
        'Load key "/root/.ssh/id": error in libcrypto',
        'Load key "/root/.ssh/id": invalid format',
        "no such identity: /root/.ssh/id: No such file or directory",
        'sign_and_send_pubkey: signing failed for ED25519 "id" from agent: agent refused operation',
    ],
)
def test_a_key_that_ssh_cannot_use_matters_if_no_other_was_accepted(unusable: str) -> None:
    denied = "me@a: Permission denied (publickey,password)."
    assert failure_reason(f"{unusable}\n{denied}\n") == f"{denied}; {unusable}"
    assert failure_reason(f"{unusable}\nfio: no space left\n") == "fio: no space left"


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (("", "sockperf: ERROR: Can`t connect socket\n"), "sockperf: ERROR: Can`t connect socket"),
        ((POST_QUANTUM, "Couldn't get context for the device\n"), "Couldn't get context for the device"),
        (("iperf3: error - no route\n", "0 tests failed\n"), "iperf3: error - no route"),
        ((ABORT, "1 tests completed and failed residual checks\n"), ABORTED),
        ((EXITED, "HPL ERROR: out of memory\n"), "HPL ERROR: out of memory"),
        (("", '{"error": "unable to connect"}'), ""),
        (("banner\n\ncause\n \n",), "cause"),
        (("", ""), ""),
    ],
)  # fmt: skip
def test_the_output_counts_if_the_errors_say_little(texts: tuple[str, ...], reason: str) -> None:
    assert failure_reason(*texts) == reason


def test_what_a_script_of_ours_says_counts_more_than_what_its_programs_say() -> None:
    said = (
        "mkdir: cannot create directory '/run/x': Permission denied\nclusterlift: error: be root\n"
    )
    assert failure_reason(said) == "be root"


@pytest.mark.parametrize(
    ("output", "error"),
    [("measured 5 of 5\n", ""), ("1 of 5\ncannot read the disk\n", "cannot read the disk")],
)
def test_an_output_states_an_error_or_it_does_not(output: str, error: str) -> None:
    assert stated_error(output) == error


STACK = "\n\tat org.apache.spark.A.b(A.scala:1)\n\tat py4j.C.d(C.java:2)\n"
CALLED = "An error occurred while calling o1034.save.\n: "
TASK = (
    "org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 3.0 failed 4 times, "
    "most recent failure: Lost task 0.3 in stage 3.0 (TID 4) (10.0.0.1 executor 1): "
)
FROM_PYTHON = (
    "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n"
    '  File "worker.py", line 1, in main\nValueError: no rows\n' + STACK
)


CAUSES = {
    "java.io.FileNotFoundException: File /d/part-0 does not exist": (
        f"{CALLED}org.apache.spark.SparkException: Job aborted.{STACK}"
        f"Caused by: {{}}{STACK}\t... 12 more\n"
    ),
    "java.lang.IllegalStateException: stopped": f"{CALLED}{{}}{STACK}",
    "ExecutorLostFailure (executor 1 exited) Reason: exit status 137": (
        f"{CALLED}{TASK}{{}}\nDriver stacktrace:{STACK}"
    ),
    "ValueError: no rows": (
        f"{CALLED}{TASK}{FROM_PYTHON}\nDriver stacktrace:{STACK}Caused by: {FROM_PYTHON}\t... 1 more\n"
    ),
    "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)": (
        f"Caused by: {{}}{STACK}Caused by: java.io.EOFException{STACK}\t... 1 more"
    ),
    'java.io.IOException: Cannot run program "python9": error=2, No such file': (
        f"Caused by: {{}}{STACK}Caused by: java.io.IOException: error=2, No such file{STACK}"
    ),
    "java.io.IOException: full": (
        f"Caused by: java.lang.RuntimeException: java.io.IOException: full{STACK}Caused by: {{}}{STACK}"
    ),
    "java.io.IOException: No space left": (
        "Job aborted due to stage failure: Task 51 in stage 34.0 failed 4 times, most recent failure: Lost "
        f"task 51.3 in stage 34.0 (TID 124) (n1 executor 0): {{}}{STACK}\nDriver stacktrace:"
    ),
    "java.io.IOException: disk full": (
        "org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 "
        f"times, most recent failure: Lost task 0.3 in stage 0.0 (TID 3, n1, executor 1): {{}}{STACK}"
    ),
    "java.net.ConnectException: Call From a/10.0.0.1 to nn:8020 failed: java.net.ConnectException: refused; "
    "see the page": f"Caused by: {{}}{STACK}Caused by: java.net.ConnectException: refused{STACK}",
    "java.io.FileNotFoundException: File file:/x.zip does not exist": (
        f'\t diagnostics: Application a failed 2 times\n{{}}{STACK}Exception in thread "main" '
        f"org.apache.spark.SparkException: Application a finished with failed status{STACK}"
    ),
    "pyspark.errors.ParseException: [PARSE_SYNTAX_ERROR] near 'x'.": (
        'Traceback (most recent call last):\n  File "x.py", line 3, in <module>\n'
        "pyspark.errors.ParseException: \n[PARSE_SYNTAX_ERROR] near 'x'.\n\n== SQL ==\n"
    ),
    "java.net.BindException: in use": f'Exception in thread "main" {{}}{STACK}',
    "java.net.BindException: Port in use": f"26/01/02 03:04:05 WARN A: slow\n{{}}{STACK}/****/\n",
}


@pytest.mark.parametrize(("cause", "text"), CAUSES.items())
def test_the_innermost_cause_of_a_stack(cause: str, text: str) -> None:
    assert innermost_cause(text.format(cause)) == cause


def test_a_failure_without_a_stack_is_named_without_the_task_that_had_it() -> None:
    lost = "ExecutorLostFailure (executor 1 exited) Reason: Command exited with code 137"
    message = f"{TASK.partition(': ')[2]}{lost}\nDriver stacktrace:"
    assert cause_or_first_line(message) == lost


@pytest.mark.parametrize(
    "text", ["first line\nsecond line\n", "Path does not exist: java.io.Missing\n"]
)
def test_without_a_stack_there_is_no_innermost_cause(text: str) -> None:
    assert innermost_cause(text) == ""


@pytest.mark.parametrize(
    ("line", "program"),
    [
        ("sh: 1: frobnicate: not found", "frobnicate"),
        ("sh: line 1: frobnicate: command not found", "frobnicate"),
        ("bash: line 1: exec: fio: not found", "fio"),
        ("fio: 19: exec: fio: not found", "fio"),
        ("sh: fio: not found", "fio"),
        ("mksh: fio: inaccessible or not found", "fio"),
        ("zsh:1: command not found: fio", "fio"),
        ("fish: Unknown command: fio", "fio"),
        ("fio: Command not found.", "fio"),
        ("stdbuf: failed to run command 'ib_send_lat': No such file or directory", "ib_send_lat"),
        ("timeout: failed to run command \u2018fio\u2019: No such file or directory", "fio"),
        ("env: 'fio': No such file or directory", "fio"),
        ("setsid: failed to execute fio: No such file or directory", "fio"),
        ("sudo: fio: command not found", "fio"),
        ("fio: error while loading shared libraries: libaio.so.1: cannot open shared object file", ""),
        ("fio: /lib/libc.so.6: version `GLIBC_2.34' not found (required by fio)", ""),
        ("the device was not found", ""),
    ],
)  # fmt: skip
def test_a_program_that_is_missing_is_named(line: str, program: str) -> None:
    assert missing_program(line) == program


@pytest.mark.parametrize(
    ("reason", "is_lost"),
    [
        ("kex_exchange_identification: Connection closed by remote host", True),
        ("Connection closed by UNKNOWN port 65535", True),
        ("Connection reset by 10.9.0.4 port 22", True),
        ("ssh: connect to host a port 22: Connection refused", True),
        ("ssh: connect to host a port 22: No route to host", False),
        ("me@a: Permission denied (publickey).", False),
        ("Received disconnect from 10.9.0.4 port 22:2: Too many authentication failures", False),
    ],
)
def test_a_lost_connection_is_worth_another_try(reason: str, *, is_lost: bool) -> None:
    assert is_turned_away(reason) is is_lost


@pytest.mark.parametrize(
    "part",
    ["x", " ", "a.", "most recent failure: Lost task ", "Caused by: a.b.CException", "####\n", "-----\n",
     "most recent failure: Lost task 1 in stage 2 (TID 3, ", ": not found", "\x1b]", "\tat a.b\n"],
)  # fmt: skip
def test_a_long_text_takes_no_longer_than_others(part: str) -> None:
    """In quadratic time, this would take minutes."""
    text = part * (400_000 // len(part))
    assert reason_of(text)
    failure_reason(text)


@pytest.mark.parametrize("version", ["3.8", "3.9"])
def test_reasons_are_found_with_older_pythons_too(version: str) -> None:
    python = next(Path.home().glob(f".pyenv/versions/{version}.*/bin/python3"), None)
    if python is None:
        pytest.skip(f"Python {version} is not installed")
    program = (
        "from harness.base.failure_reason import failure_reason; print(failure_reason('x: failed'))"
    )
    done = subprocess.run(
        [python, "-B", "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("x: failed\n", "")

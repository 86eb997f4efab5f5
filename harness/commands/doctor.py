"""`clusterlift doctor`: find faults of the machines before the first trial."""

from harness.analysis.observed.machines import disk_lines
from harness.analysis.ready.health import health
from harness.analysis.ready.platforms import platform_notes
from harness.base.errors import BadInput
from harness.base.terminal import show
from harness.base.words import count_of, join_names
from harness.commands.command import command
from harness.commands.own_machine import known_states, read_states, this_machine
from harness.commands.site import on_site
from harness.hosts.transports.host import HostError, by_local, by_ssh
from harness.model.finding import EVERYTHING, Finding, Gravity
from harness.node.state import WINDOW_S
from harness.present.findings import finding_lines
from harness.probes.options import NamedHosts
from harness.submit.local_spark import spark_of_this_machine


@command("doctor")
@on_site
def doctor_command(site: NamedHosts) -> int:
    """Find faults of the machines before the first trial, and how to mend them.

    The command looks at this machine, or at the hosts that you name, for half a second, and changes nothing.
    Run no jobs there meanwhile. It also compares the machines' Python and Java with what the Spark of this
    machine needs, and lists the disks. A fault would spoil results, and the exit code is then 1. A note is
    worth a look, and may be intended. A fact that a machine does not show is unknown.
    """
    if site.names is not None or site.nodes:
        hosts = site.hosts()
    elif site.transport not in {by_local, by_ssh}:
        raise BadInput("--via reaches hosts that are named, such as --hosts node[1-4]")
    else:
        hosts = [this_machine()]
    found = read_states(hosts)
    known = known_states(found)
    findings = [Finding(EVERYTHING, str(each)) for each in found if isinstance(each, HostError)]
    findings += health(known)
    findings += platform_notes(known, spark_of_this_machine())
    for line in finding_lines(findings):
        show(line)
    for line in disk_lines({state.host: state.facts for state in known}):
        show(line)
    faults = sum(finding.is_fault for finding in findings)
    if faults:
        verdict = count_of(faults, "fault")
    elif any(finding.gravity is Gravity.UNKNOWN for finding in findings):
        verdict = "no fault in what is known"
    else:
        verdict = "no fault"
    names = join_names([state.host for state in known]) or "no host"
    show(f"looked at {names} for {WINDOW_S:g} s: {verdict}")
    return int(faults > 0)

"""Which lines of a kernel's log tell of a link, card or bus in trouble, and which of them are new.

A line tells of trouble if its subject is a network device, its driver or its bus, and if one of its words
says that something went wrong. grep applies both patterns on the host, and Python here: they have only what
both know.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

_STAMP = r"(<[0-9]+>)?(\[ *[0-9]+\.[0-9]+\])?(\[ *[TC][0-9]+\])? ?"
"""Before a line's text: its priority, its moment, and the thread or the processor that wrote it."""
_DRIVERS = (
    # Intel, Broadcom, NVIDIA, Realtek
    "e1000e?|fm10k|i40e|iavf|ice|idpf|igb|igbvf|igc|irdma|ixgb|ixgbe|ixgbevf",
    "b44|bcm[a-z0-9-]+|bna|bnx2x?|bnxt_[a-z]+|tg3",
    "mlx[45]_[a-z]+|mlxsw_[a-z0-9]+",
    "8139(cp|too)|r8125|r8126|r815[0-9][a-z-]*|r816[0-9]|rtl8150",
    # other cards
    "3c59x|alx|amd-xgbe|at[hl]1[ce]?|atlantic|be2net|cxgb[0-9](vf)?|efx|enic|forcedeth|jme|liquidio[a-z_]*",
    "myri10ge|netxen_nic|nfp|ngbe|octeon[a-z_0-9]*|ionic|qed[er]?|qlcnic|qlge|s2io|sfc[a-z_0-9]*|sk(ge|y2)",
    "tehuti|thunder[a-z]*|txgbe|via-(rhine|velocity)|vxge",
    # of boards
    "dpaa2?[a-z_-]*|dwmac[a-z0-9-]*|fec|fsl_[a-z0-9_-]+|gianfar|hinic[0-9]*|hns3?|macb|mv(neta|pp2|643xx_eth)",
    "stmmac[a-z]*|xgbe|xgmac",
    # on USB
    "aqc111|asix|ax[0-9]+[a-z0-9_]*|catc|cdc_[a-z]+|dm9601|ipheth|kaweth|lan[0-9]+[a-z]*|mcs7830|net1080|pegasus",
    "qmi_wwan|rndis_[a-z]+|smsc[0-9a-z]+|sr9[78]00|usbnet",
    # of virtual machines
    "ena|gve|hv_netvsc|ibmv(eth|nic)|mana|ne2k-pci|pcnet32|virtio_net|vmxnet3|xen[-_]netfront",
    "infiniband",
)
_BUSES = "usb|hub|[xeo]hci[-_a-z]*|uhci_hcd|dwc[0-9][a-z0-9_-]*|pcieport|EEH:|sfp|mdio[a-z_-]*|net"
_PLACE = "[^ ]{0,60}[0-9]([^ ]{0,60}[^ :])?"
"""Where a card is on its bus, such as `0000:01:00.0` or `2-1:1.0`."""
_INTERFACES = "(eth|en[a-z]|ib|lan|wan|vlan|bond|team|vmbr|br-?)[0-9][^ ]*"
SUBJECT = "|".join(
    (
        # All messages about a network device have this form: `igb 0000:01:00.0 eth0: ...`.
        f"^{_STAMP}[a-z0-9][^ :]{{0,60}} {_PLACE} [^ :]{{1,60}}( [(][a-z]+[)])?: ",
        rf"^{_STAMP}\[?({'|'.join(_DRIVERS)})[ :_-]",
        f"^{_STAMP}({_BUSES}) ",
        f"^{_STAMP}{_INTERFACES}: ",
        "[(]unnamed net_device|[(]slave |NETDEV WATCHDOG|ADDRCONF| PHY |downshift|at drivers/net/",
        "IPv[46]: [^ ]+: |(neighbou?r|conntrack|TCP): ",
    )
)
"""Subjects of lines that may tell of trouble. The names of the host's own cards come beside them."""
_WORDS = (
    "fail(ed|s|ure|ures|ing)?|err|errors?|faults?|fatal|panic|bad|broken|illegal|mal(icious|formed)",
    "corrupt(ed|ion)?|crash(ed)?|assert(s|ed|ion)?|halted|lock-?up|unresponsive",
    "timed?[ -_]?out|hang(s|ed)?|hung|stall(s|ed)?|stuck|frozen",
    "reset(s|ting|ted)?|restart(s|ed|ing)?|recover(y|ing)?|un(correct|recover)[a-z]*|non-recoverable|abort(ed|ing)?",
    "dead|die[sd]|dying|lost|loss|losing|dropp(ed|ing)|down|disconnect(ed|ing)?|unplugged",
    "detached|surprise (removal|down)",
    "unable|can ?not|can.?t|could ?n.t|could not|isn.?t|wasn.?t|giv(e|es|ing) up|gave up|abandon(ed|ing)?",
    "non-?responsive|not (responding|responsive|ready|accepting|present|completed|a head|working|reachable)",
    "no (response|longer|802.3ad response|link partner)|without any active",
    "over ?heat(ed)?|high temperature|thermal (event|alarm|trip|shutdown)|throttled|over-current",
    "insufficient|(over|under)[- ]?(runs?|flow)|too many|excessive|exceed(s|ed)?|is busy",
    "table full|out of memory",
    "downshift(ed)?|downgraded|half[- ]duplex|mismatch(es)?|late collision|babble|jabber|parity|duplicate",
    "unexpected(ly)?|spurious|malfunction|compromised|inaccessible|syndrome|safe mode|flapping|keep alive",
    "(core|emp|glob)r|power cycle|active aggregator|speed changed to 0|is missing|nacked",
    "(module|adapter|device|card) (was )?removed|unsupported (sfp|module|cable)|disabled by hub",
    "(ring|crash|ftq|register) dump|health issue|driver issue|bit set|own address as source",
)
_SIGNS = (
    "tx_?timeout|carrier off|unregister .|link status is: 0|link change old [0-9]+ new 0",
    "rtl_[a-z_]{1,40}cond|(^|[^a-z])warn[: ]",
    # A negative code of a function of the kernel, such as `status -71`.
    "[^0-9a-z.-]-[1-9][0-9]{0,2}([^-0-9a-z.:%]|$)",
)
TROUBLE = f"(^|[^a-z])({'|'.join(_WORDS)})([^a-z]|$)|{'|'.join(_SIGNS)}"
"""Words of lines that tell of trouble."""
_HARMLESS = "|".join(
    (
        # Corrected errors, the lines that explain them, and features that are announced at the start.
        r"(^|[^a-z])correct(ed|able)([^a-z]|$)|error status/mask=|: +\[ *[0-9]+\] |reported first",
        "error (reporting|containment capabilit)",
        # Drivers do without firmware that is missing, and without power management that the BIOS keeps.
        "firmware load|load(ing)? firmware|firmware: failed to load|ASPM|PHY reset is blocked",
        "suspect GRO|Enslaving|(up|down)[ _]?delay",
        # Ports of containers and of disks come and go. Others are no network cards.
        "veth|SATA link down",
        f"^{_STAMP}(drbd|nvme|snd[a-z_]*) |usb [^ ]+: [0-9]+:[0-9]+: ",
        # Lists of names, the log of a firewall, and what programs write into the kernel's log.
        r"Modules linked in|command line: |[+]0x[0-9a-f]+/0x|(^| )IN=[^ ]{0,20} OUT=",
        rf"^{_STAMP}[^ :]+\[[0-9]+\]: |audit(\(|: )",
    )
)
_HARMLESS_IN_LINE = re.compile(_HARMLESS, re.IGNORECASE)
_TROUBLE_IN_LINE = re.compile(TROUBLE, re.IGNORECASE)
_LINE = re.compile(r"^(?:<\d+>)?(?:\[ *(\d+\.\d+)\])?(?:\[ *[TC]\d+\])? ?(.*)$")
_MAX_LINE = 500
"""Characters of a line that are searched and kept."""
_OUT_OF_ORDER_S = 1.0
"""Lines of several processors may be in another order than their moments."""


@dataclass(frozen=True)
class LogLine:
    """A line of a kernel's log, and its moment by the log's own clock; None if the log has no moments.

    That clock is no other clock of the host: it is not corrected, and may stand still while the host sleeps.
    """

    clock_s: float | None
    text: str


@dataclass(frozen=True)
class KernelLog:
    """The lines about trouble, and the moment of the log's newest line, whatever that is about."""

    trouble: tuple[LogLine, ...] = ()
    newest_s: float | None = None

    def since(self, before: KernelLog) -> Iterator[str]:
        """Yield the lines about trouble that are new, each as often as it is new.

        The log may have been cleared, or have lost its oldest lines. Where it has no moments, a line that
        takes the place of an equal one is not noticed.
        """
        known = Counter(before.trouble)
        for line in self.trouble:
            if known[line] > 0:
                known[line] -= 1
            elif not before.has_passed(line.clock_s):
                yield line.text

    def has_passed(self, clock_s: float | None) -> bool:
        """Return whether the log had certainly come beyond a moment."""
        if clock_s is None or self.newest_s is None:
            return False
        return clock_s < self.newest_s - _OUT_OF_ORDER_S


def newest_moment(line: str) -> float | None:
    """Return the moment of a log's newest line; None without one."""
    last = _log_line(line)
    if last:
        return last.clock_s
    return None


def kernel_trouble(log: str, cards: Collection[str] = ()) -> Iterator[LogLine]:
    """Yield the lines of a log that tell of a link, card or bus in trouble.

    `cards` are names by which the host knows its network cards.
    """
    names = "|".join(re.escape(card) for card in cards)
    named = f"|(^|[^a-z0-9_])({names})([^a-z0-9_]|$)" if names else ""
    subject = re.compile(f"{SUBJECT}{named}", re.IGNORECASE)
    for line in log.splitlines():
        searched = line[:_MAX_LINE]
        if not subject.search(searched) or not _TROUBLE_IN_LINE.search(searched):
            continue
        found = _log_line(line)
        if found and not _HARMLESS_IN_LINE.search(searched):
            yield found


def _log_line(line: str) -> LogLine | None:
    match = _LINE.match(line)
    if match is None:
        return None
    clock_s = float(match[1]) if match[1] else None
    return LogLine(clock_s, match[2].strip()[:_MAX_LINE])

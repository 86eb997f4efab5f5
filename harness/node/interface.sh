# Print all that a host knows about the device $0, and about the devices below it, in parts with headings. The
# arguments are further files. Every part is bounded, and so are the devices.

part() { echo "== $1"; shift; "$@" 2>/dev/null | head -n 2000; echo; }

# The filters that may choose a class, limit packets or send them elsewhere. Not clusterlift0: while we limit the
# link, what comes in passes through it, at the rate of the root queue.
filters() {
  tc filter show dev "$1" | grep ^filter
  for hook in ingress egress; do tc filter show dev "$1" $hook; done |
    grep -E 'police|Redirect to device' | grep -v ' clusterlift0)'
}

# Why it cannot be known whether tc limits the device.
no_limits() {
  command -v tc > /dev/null || { echo 'tc is not installed'; return; }
  { tc qdisc show dev "$1" && tc filter show dev "$1"; } 2>&1 > /dev/null | head -n 1
}

# Who made this machine, and whether a hypervisor did. The first guest of Xen has the real cards.
maker() {
  ! grep -q -s control_d /proc/xen/capabilities || return 0
  grep -s -o -w -m 1 hypervisor /proc/cpuinfo
  grep -s -a . /sys/hypervisor/type /sys/class/dmi/id/sys_vendor /sys/class/dmi/id/product_name \
    /proc/device-tree/compatible
  [ ! -d /proc/device-tree/hypervisor ] || echo hypervisor
}

describe() {
  device=$1 at=/sys/class/net/$1
  shift
  part device ip -j -d -s link show dev "$device"
  part queue tc -j qdisc show dev "$device"
  part filters filters "$device"
  part 'no limits' no_limits "$device"
  part driver readlink "$at/device/driver"
  part place readlink -f "$at/device"
  part bond cat "/proc/net/bonding/$device"
  part infiniband grep -h -s . "$at"/device/infiniband/*/ports/*/rate
  part files grep -s . "$at/speed" "$at/duplex" "$at/mtu" "$at/operstate" "$at"/statistics/[rt]x_errors \
    "$at"/statistics/[rt]x_dropped "$at/device/../speed" "$at/device/current_link_speed" \
    "$at/device/current_link_width" "/sys/devices/virtual/net/$device/mtu" "$@" /dev/null
}

describe "$0" "$@"
part maker maker
part offloads ethtool -k "$0"
below "$0"
exit 0

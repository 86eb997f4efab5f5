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

describe() {
  device=$1 at=/sys/class/net/$1
  shift
  part device ip -j -d -s link show dev "$device"
  part queue tc -j qdisc show dev "$device"
  part filters filters "$device"
  part driver readlink "$at/device/driver"
  part bond cat "/proc/net/bonding/$device"
  part files grep -s . "$at/speed" "$at/duplex" "$at/mtu" "$at/operstate" "$at"/statistics/[rt]x_errors \
    "$at"/statistics/[rt]x_dropped "/sys/devices/virtual/net/$device/mtu" "$@" /dev/null
}

# Names of lower devices, of paths that start with /sys/class/net/UPPER/lower_NAME.
names() { ls -d "$@" 2>/dev/null | sed 's,^/sys/class/net/[^/]*/lower_,,; s,/.*,,' | sort -u; }

# Those that lead to hardware, or else all: a bridge may have hundreds of containers. All members of a bond count.
left=32
below() {
  at=/sys/class/net/$1
  [ ! -e "$at/device" ] || return 0
  found=$(names "$at"/lower_*/device "$at"/lower_*/lower_*)
  [ ! -e "/proc/net/bonding/$1" ] || found=
  for each in ${found:-$(names "$at"/lower_*)}; do
    echo "== below $1 $each"
    [ $((left -= 1)) -ge 0 ] || break
    describe "$each"
    below "$each"
  done
}

describe "$0" "$@"
part offloads ethtool -k "$0"
below "$0"
exit 0

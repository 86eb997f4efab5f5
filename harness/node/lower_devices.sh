# A script that follows this one defines `describe DEVICE`. `below DEVICE` calls it for each device below that one,
# after a heading with both names.

# Names of lower devices, of paths that start with /sys/class/net/UPPER/lower_NAME.
names() { ls -d "$@" 2>/dev/null | sed 's,^/sys/class/net/[^/]*/lower_,,; s,/.*,,' | sort -u; }

# Those that lead to hardware, or else all: a bridge may have hundreds of containers. All members of a bond count.
# The ports of all bridges of Open vSwitch are below the one device ovs-system.
left=32
below() {
  at=/sys/class/net/$1
  case $(ip -d link show dev "$1" 2>/dev/null) in *" openvswitch "*) at=/sys/class/net/ovs-system ;; esac
  found=$(names "$at"/lower_*/device "$at"/lower_*/lower_*)
  [ ! -e "/proc/net/bonding/$1" ] || found=
  for each in ${found:-$(names "$at"/lower_*)}; do
    echo "== below $1 $each"
    [ $((left -= 1)) -ge 0 ] || break
    describe "$each"
    below "$each"
  done
}

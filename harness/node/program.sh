# `sh -c PROGRAM SECTION ARGUMENT...` prints one section of what a node can tell:
#
#   facts PYTHON PROGRAM KEYS FILES   by FILES, by KEYS of /proc/cpuinfo, and by PROGRAM for PYTHON
#   state PYTHON PROGRAM KEYS FILES TASKS   the same, versions of Java and of TASKS, which is the Python of Spark's
#                                     tasks, and counters before and after half a second
#   counters
#   link DEVICE FILE...               the device, those below it, and FILEs of the kernel
#   events DEVICE WORDS SUBJECT       their counters, and lines of the kernel's log about trouble
#
# program.py says what an answer looks like. What is missing prints nothing.

exec 2>/dev/null
boot=/proc/sys/kernel/random/boot_id

part() {
  echo "== $1"
  shift
  "$@" | head -n 2000
  echo
}

# --- facts

facts() {
  grep -s . $boot /dev/null
  echo "/uname:$(uname -m)"
  echo "/getconf:$(getconf _NPROCESSORS_ONLN || nproc)"
  run_python "$1" "$2"
  # Processors differ within a machine, and may be thousands: each line of theirs comes once.
  grep -a -E "^($3)[[:space:]]*:|^processor [0-9]+:" /proc/cpuinfo |
    LC_ALL=C sort -u | head -n 1000 | sed 's|^|/proc/cpuinfo:|'
  # A device tree ends its texts with a NUL.
  grep -a -s -m 40 . /dev/null $4 | tr -d '\000'
}

# Print what Python finds out, or why it does not, after its version. RHEL 8 has a Python off the PATH.
run_python() {
  python=$1 platform=/usr/libexec/platform-python
  command -v "$python" >/dev/null || [ ! -x $platform ] || python=$platform
  { problem=$("$python" -I -S -c "$2" 2>&1 >&3) || {
    version=$("$python" -c 'import platform; print(platform.python_version())')
    echo "/unread:$version $(printf '%s\n' "$problem" | tail -n 1)"
  }; } 3>&1
}

# Print the versions of the Python $1 and of Java, which is not started for it.
versions() {
  "$1" --version 2>&1 | sed -nE 's|^Python ([0-9].*)|/tasks_python:\1|p'
  java=$(command -v "${JAVA_HOME:+$JAVA_HOME/bin/}java") || return
  bin=$(dirname "$(readlink -f "$java")")
  # The Java of a JDK 8 is in jre/bin.
  cat "$bin/../release" "$bin/../../release" | sed -nE 's|^JAVA_VERSION="(.*)"|/java:\1|p' | head -n 1
}

# --- counters, and what they show of half a second

counters() {
  grep -s -E '^(cpu|some |pgmajfault |pswp|[0-9.]+ [0-9.]+$)' /dev/null /proc/uptime /proc/stat \
    /proc/vmstat /proc/pressure/*
  grep -s : /dev/null /proc/self/net/dev
  cat /sys/class/infiniband/*/ports/*/counters/port_*_data | sed 's/^/rdma:/'
}

processes() { cat /proc/[0-9]*/stat | sed -nE 's|^([0-9]+ \(.*\) ([^ ]+ ){20}).*|processes:\1|p'; }

state() {
  export SPARK_LOCAL_DIRS="${SPARK_LOCAL_DIRS:-${LOCAL_DIRS:-/tmp}}"
  facts "$@"
  versions "$5"
  grep -s . /dev/null /proc/loadavg
  scratch=${SPARK_LOCAL_DIRS%%,*}
  echo "/scratch:$scratch"
  df -Pk "$scratch" | sed -n '2s|^|/df:|p'
  # Processes are read outside the window.
  echo '== before'
  processes
  counters
  sleep 0.5
  echo '== after'
  counters
  processes
}

# --- a link, and the devices below it

# Call the function $2 for each device below $1, after a heading with both names. They are the devices that lead to
# hardware, or else all: a bridge may have hundreds of containers. All members of a bond count.
left=32
below() {
  at=/sys/class/net/$1
  # The ports of all bridges of Open vSwitch are below the one device ovs-system.
  case $(ip -d link show dev "$1") in *" openvswitch "*) at=/sys/class/net/ovs-system ;; esac
  found=$(names "$at"/lower_*/device "$at"/lower_*/lower_*)
  [ ! -e "/proc/net/bonding/$1" ] || found=
  for each in ${found:-$(names "$at"/lower_*)}; do
    echo "== below $1 $each"
    [ $((left -= 1)) -ge 0 ] || break
    "$2" "$each"
    below "$each" "$2"
  done
}

# Names of lower devices, of paths that start with /sys/class/net/UPPER/lower_NAME.
names() { ls -d "$@" | sed 's,^/sys/class/net/[^/]*/lower_,,; s,/.*,,' | sort -u; }

link() {
  device=$1
  shift
  kernel_files=$*
  describe "$device"
  part maker maker
  part offloads ethtool -k "$device"
  below "$device" describe
}

describe() {
  at=/sys/class/net/$1
  part device ip -j -d -s link show dev "$1"
  part queue tc -j qdisc show dev "$1"
  part filters filters "$1"
  part 'no limits' no_limits "$1"
  part driver readlink "$at/device/driver"
  part place readlink -f "$at/device"
  part bond cat "/proc/net/bonding/$1"
  part infiniband grep -h -s . "$at"/device/infiniband/*/ports/*/rate
  part files grep -s . "$at/speed" "$at/duplex" "$at/mtu" "$at/operstate" "$at"/statistics/[rt]x_errors \
    "$at"/statistics/[rt]x_dropped "$at/device/../speed" "$at/device/current_link_speed" \
    "$at/device/current_link_width" "/sys/devices/virtual/net/$1/mtu" $kernel_files /dev/null
}

# The filters that may choose a class, limit packets or send them elsewhere. Not clusterlift0: while we limit the
# link, what comes in passes through it, at the rate of the root queue.
filters() {
  tc filter show dev "$1" | grep ^filter
  for hook in ingress egress; do tc filter show dev "$1" $hook; done |
    grep -E 'police|Redirect to device' | grep -v ' clusterlift0)'
}

# Why it cannot be known whether tc limits the device.
no_limits() {
  command -v tc >/dev/null || { echo 'tc is not installed'; return; }
  { tc qdisc show dev "$1" && tc filter show dev "$1"; } 2>&1 >/dev/null | head -n 1
}

# Who made this machine, and whether a hypervisor did. The first guest of Xen has the real cards.
maker() {
  ! grep -q -s control_d /proc/xen/capabilities || return 0
  grep -s -o -w -m 1 hypervisor /proc/cpuinfo
  grep -s -a . /sys/hypervisor/type /sys/class/dmi/id/sys_vendor /sys/class/dmi/id/product_name \
    /proc/device-tree/compatible
  [ ! -d /proc/device-tree/hypervisor ] || echo hypervisor
}

# --- events of a link

events() {
  count "$1"
  below "$1" count
  echo '== host'
  grep -s . $boot /dev/null
  [ -d /sys/class/net ] || echo 'no devices'
  part cards cards
  part newest newest
  kernel_log "$2" "$3"
}

count() {
  at=/sys/class/net/$1
  part files grep -s . "$at"/statistics/[rt]x_errors "$at"/statistics/[rt]x_dropped "$at/carrier_changes" \
    "$at/ifindex" "$at/speed" "$at/duplex" "$at/device/../devnum" /dev/null
  # A bond counts how often it saw each member fail, also by ARP, where the carrier stays.
  part bond cat "/proc/net/bonding/$1"
  if counted=$(ethtool -S "$1" 2>&1); then
    part statistics pauses
  else
    part 'no statistics' printf '%s\n' "$counted"
  fi
}

pauses() { printf '%s\n' "$counted" | grep -iE 'pause|xo(n|ff)|pfc|_ppp[0-9]' | head -n 500; }

# The names of cards, of their places on a bus, and of their drivers. Cards of wireless networks are left out.
cards() {
  for at in /sys/class/net/*; do
    [ -e "$at/device" ] && [ ! -e "$at/phy80211" ] || continue
    echo "${at##*/}"
    readlink "$at/device" | sed 's,.*/,,; s,^0000:,,'
    readlink "$at/device/driver" | sed 's,.*/,,'
  done | grep -E '^[A-Za-z0-9_.:@+-]{2,60}$' | sort -u | head -n 100
}

newest() { dmesg | tail -n 1; }

# Print the lines that have one of the words $1 and are about the subject $2, or about a card.
kernel_log() {
  echo '== kernel log'
  named=$(cards | sed 's,[.+],[&],g' | tr '\n' '|')
  exec 3>&1
  said=$({
    { dmesg || echo "dmesg ended with code $?" >&4; } | grep -aiE -e "$1" |
      grep -aiE -e "$2|(^|[^a-z0-9_])(${named}NETDEV WATCHDOG)([^a-z0-9_]|$)" | tail -n 1000 >&3
  } 2>&1 4>&1)
  [ -z "$said" ] || part 'no log' printf '%s\n' "$said"
}

section=$0
"$section" "$@"
exit 0

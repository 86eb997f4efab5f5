# Print what a host has counted of the device $0 and of the devices below it, and the lines of the kernel's log
# that have one of the words $1 and are about the subject $2, or about a card. What cannot be read says why, below
# a heading of its own.

describe() {
  device=$1 at=/sys/class/net/$1
  grep -s . "$at"/statistics/[rt]x_errors "$at"/statistics/[rt]x_dropped "$at/carrier_changes" "$at/ifindex" \
    "$at/speed" "$at/duplex" "$at/device/../devnum" /dev/null
  # A bond counts how often it saw each member fail, also by ARP, where the carrier stays.
  grep -s -E '^(Slave Interface|Link Failure Count):' "/proc/net/bonding/$device"
  if counted=$(ethtool -S "$device" 2>&1); then
    printf '%s\n' "$counted" | grep -iE 'pause|xo(n|ff)|pfc|_ppp[0-9]' | head -n 500
  else
    echo '== no statistics'
    printf '%s\n' "$counted" | head -n 1
  fi
}

# The names of cards, of their places on a bus, and of their drivers. Cards of wireless networks are left out.
cards() {
  for at in /sys/class/net/*; do
    [ -e "$at/device" ] && [ ! -e "$at/phy80211" ] || continue
    echo "${at##*/}"
    readlink "$at/device" | sed 's,.*/,,; s,^0000:,,'
    readlink "$at/device/driver" | sed 's,.*/,,'
  done | grep -E '^[A-Za-z0-9_.:@+-]{2,60}$' | sort -u | head -n 100
}

describe "$0"
below "$0"
echo '== host'
grep -s . /proc/sys/kernel/random/boot_id /dev/null
[ -d /sys/class/net ] || echo '== no devices'
echo '== cards'
cards
echo '== newest'
dmesg 2>/dev/null | tail -n 1
echo '== kernel log'
named=$(cards | sed 's,[.+],[&],g' | tr '\n' '|')
exec 3>&1
said=$({
  { dmesg || echo "dmesg ended with code $?" >&4; } | grep -aiE -e "$1" |
    grep -aiE -e "$2|(^|[^a-z0-9_])(${named}NETDEV WATCHDOG)([^a-z0-9_]|$)" | tail -n 1000 >&3
} 2>&1 4>&1)
[ -z "$said" ] || { echo '== no log'; printf '%s\n' "$said" | head -n 3; }
exit 0

# The guard of a host, with the words LEASE LOCKS PAUSES ATTEMPT; guard.py says what it is for.
# A line of input renews the lease, or is `revert SCRIPT end`, `set SCRIPT end`, or anything else: the end. A
# line that was cut off has no `end`, and is not obeyed. Scripts are passed on in the environment and not as
# words, so that `ps` does not show them.

lease=$1 locks=$2 pauses=$3 attempt=$4
# Signals must not end the guard: sshd sends one when the connection ends. They are caught and not ignored,
# because what the guard starts would ignore them, too.
trap : HUP INT TERM PIPE
PATH=$PATH:/usr/sbin:/sbin
umask 077

for program in timeout flock setsid pkill; do
  command -v "$program" >/dev/null || { echo "clusterlift: error: $program is not installed" >&2; exit 1; }
done
if ! mkdir -p "$locks" || [ ! -O "$locks" ] || [ -L "$locks" ]; then
  [ "$(id -u)" = 0 ] || echo "clusterlift: error: only root can set something there: name root@HOST" >&2
  [ "$(id -u)" != 0 ] || echo "clusterlift: error: $locks is not a directory of root's own" >&2
  exit 1
fi
# Two network namespaces of one machine have their own settings, so each has a lock.
lock=$locks/$(readlink /proc/self/ns/net | tr -dc 0-9)
exec 9>>"$lock" || exit 1
flock -w 2 9 || { echo "clusterlift: busy"; exit 1; }

# All that a script starts shares a lock of "$lock.set", and is in the session whose number stands there, also
# if it has a process group of its own, as `timeout` makes one. A service that it started has left the session,
# and may keep the lock: then the number is forgotten, which may once be that of another session.
end_setting() {
  timeout 5 sh -c '
    until flock -n "$0" true; do
      session=$(cat "$0")
      [ ! "$session" ] || pkill -KILL -s "$session" || exit
    done' "$lock.set" 9>&- || : >"$lock.set"
}
end_setting  # of a guard that was killed

run='text=$script; unset script; eval "$(printf %b "$text")"'
echo "clusterlift: armed"
leader= revert=
while line=$(hear 9>&-); do
  case $line in
  stay) ;;
  "revert "*" end")
    line=${line% end}
    revert=${line#revert } ;;
  "set "*" end")
    line=${line% end}
    script=${line#set } setsid sh -c '
      flock -s 6
      echo $$ >&6
      flock "$1" pkill -KILL -s $$ >/dev/null 2>&1 &  # when the guard has gone, however that happened
      { (eval "$0") 2>&1 >/dev/null; echo "clusterlift: set $?"; } </dev/null
      ' "$run" "$lock" 6>"$lock.set" 9>&- &
    leader=$! ;;
  *) break ;;
  esac
done

# Nothing is set any more, whatever the connection does, before anything is put back.
if [ "$leader" ]; then
  kill -s KILL "$leader" 2>/dev/null
  wait "$leader"
  end_setting
fi
problem=
[ -z "$revert" ] || for pause in $pauses; do
  sleep "$pause"
  problem=$(script=$revert timeout -k 5 "$attempt" sh -c "$run" 2>&1 >/dev/null </dev/null 9>&-) \
    && problem= && break
  problem=${problem:-what puts it back failed}
done
[ -z "$problem" ] || printf '%s\n' "$problem"
[ -z "$problem" ]
echo "clusterlift: put back $?"
# The lock is held for a while: we look at the values before anybody else sets anything.
timeout -s KILL "$lease" cat >/dev/null 9>&-

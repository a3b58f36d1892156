#!/bin/bash
# down.sh: ends what up.sh started, by pid: jobs first, then slurmd, slurmctld, munged. Safe to repeat.
# Exit 0: nothing of it runs any more. SLURM_TEST_DIR as for up.sh; PURGE=1 also removes that folder.
set -u
D=${SLURM_TEST_DIR:-/var/tmp/slurm-test}
export PATH=$PATH:/usr/sbin:/sbin SLURM_CONF=$D/slurm.conf
[ -d "$D" ] || exit 0
exec 9>"$D/lock"; flock -w 120 9 || { echo "down.sh: $D/lock is held" >&2; exit 1; }
alive(){ local p; p=$(cat "$2" 2>/dev/null) || return 1; [ -n "$p" ] && [ "$(cat /proc/$p/comm 2>/dev/null)" = "$1" ] && cat /proc/$p/cmdline 2>/dev/null | tr '\0' ' ' | grep -qF -- "$D/"; }
# step daemons outlive slurmd (they are meant to); ours carry our SLURM_CONF in their environment
steps(){ local l; for l in /proc/[0-9]*/comm; do l=${l%/comm}; [ "$(cat $l/comm 2>/dev/null)" = slurmstepd ] || continue
  cat $l/environ 2>/dev/null | tr '\0' '\n' | grep -qF "SLURM_CONF=$D/slurm.conf" && echo "${l#/proc/}"; done; }
tree(){ local c; for c in $(cat /proc/$1/task/*/children 2>/dev/null); do tree "$c"; echo "$c"; done; } # its descendants
# jobs first. By state, not by number: scancel takes the plain number of an array's task, says nothing and does nothing
if alive slurmctld "$D/slurmctld.pid"; then
  for s in PENDING RUNNING SUSPENDED; do timeout 10 scancel --quiet --state=$s 2>/dev/null; done
  for ((i=0;i<100;i++)); do [ -z "$(timeout 5 squeue -h 2>/dev/null)" ] && break; sleep 0.1; done
fi
rc=0
stop(){ # NAME PIDFILE: TERM, 10 s, then KILL
  alive "$1" "$2" || { rm -f "$2"; return 0; }
  local p i; p=$(cat "$2"); kill -TERM "$p" 2>/dev/null
  # (asked of /proc: a dead daemon can stay a zombie until process 1 reaps it, and kill -0 takes a zombie for alive)
  for i in $(seq 200); do cat /proc/$p/cmdline 2>/dev/null | tr '\0' ' ' | grep -q . || { rm -f "$2"; return 0; }; sleep 0.05; done
  echo "down.sh: $1 ($p) did not stop in 10 s, killing it" >&2; kill -KILL "$p" 2>/dev/null; sleep 0.5
  cat /proc/$p/cmdline 2>/dev/null | tr '\0' ' ' | grep -q . && rc=1; rm -f "$2"; }
for f in "$D"/slurmd.*.pid; do [ -e "$f" ] && stop slurmd "$f"; done
for p in $(steps); do # only after an unclean end, such as a killed slurmctld
  t=$(tree "$p"); echo "down.sh: ending left-over step $p:" $t >&2; kill -KILL $t 2>/dev/null
  for ((i=0;i<20;i++)); do [ -z "$(cat /proc/$p/cmdline 2>/dev/null | tr -d '\0')" ] && break; sleep 0.1; done; kill -KILL "$p" 2>/dev/null
done
stop slurmctld "$D/slurmctld.pid"
stop munged "$D/munge/munged.pid"
[ "${PURGE:-0}" = 1 ] && rm -rf "$D"
exit $rc

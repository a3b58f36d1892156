#!/bin/bash
# up.sh: a real Slurm on one machine for tests, all of it on 127.0.0.1. No systemd, no cgroups, no /etc/slurm.
# Running it again is harmless. Exit 0: sinfo shows every node idle (or already at work). Stop it with down.sh.
# Then: export SLURM_CONF=$SLURM_TEST_DIR/slurm.conf   (the last line printed says so)
#   SLURM_TEST_DIR    where everything lives            (/var/tmp/slurm-test)
#   SLURM_TEST_PORT   slurmctld's port; nodes use +1 on (6817)
#   SLURM_TEST_CPUS   CPUs each node claims to have     (8; more than the machine has, so that arrays overlap)
#   SLURM_TEST_NODES  number of nodes, one slurmd each  (1)
#   SLURM_TEST_KEEP=1 keep the job records of the last run (else a cold start begins empty, at job 1)
set -u
D=${SLURM_TEST_DIR:-/var/tmp/slurm-test} PORT=${SLURM_TEST_PORT:-6817} CPUS=${SLURM_TEST_CPUS:-8} NODES=${SLURM_TEST_NODES:-1}
WAIT=${SLURM_TEST_WAIT:-60}
export PATH=$PATH:/usr/sbin:/sbin
die(){ echo "up.sh: $*" >&2; exit 1; }
[ "$(id -u)" = 0 ] || die "needs root"
case $D in /*) ;; *) die "SLURM_TEST_DIR must be absolute";; esac
case $D in *[[:space:],=]*) die "no blanks, commas or = in SLURM_TEST_DIR";; esac

# 1. packages (policy-rc.d keeps Debian from starting its own daemons; 101 = not allowed)
if ! { command -v slurmctld && command -v slurmd && command -v sbatch && command -v munged; } >/dev/null; then
  made=; if [ ! -e /usr/sbin/policy-rc.d ]; then printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d && made=1; fi
  export DEBIAN_FRONTEND=noninteractive
  inst(){ apt-get install -y --no-install-recommends slurm-wlm munge </dev/null >/var/tmp/slurm-apt.log 2>&1; }
  inst || { apt-get update </dev/null >/var/tmp/slurm-apt-update.log 2>&1; inst; }; rc=$?
  [ -n "$made" ] && rm -f /usr/sbin/policy-rc.d
  [ $rc = 0 ] || { tail -n 20 /var/tmp/slurm-apt.log >&2; die "apt-get install failed ($rc)"; }
fi

# 2. this host's name must mean loopback: NoInAddrAny makes every daemon, and srun, bind to that address
H=$(hostname -s) || die "no hostname"
A=$(getent ahostsv4 "$(hostname)" | awk 'NR==1{print $1}')
if [ -z "$A" ]; then echo "127.0.0.1 $(hostname)" >> /etc/hosts && A=127.0.0.1; fi
case $A in 127.*) ;; *) die "$(hostname) resolves to $A, not loopback: put '127.0.0.1 $(hostname)' first in /etc/hosts";; esac

# is PIDFILE's process alive, of that name, and ours (names our folder on its command line)?
alive(){ local p; p=$(cat "$2" 2>/dev/null) || return 1; [ -n "$p" ] && [ "$(cat /proc/$p/comm 2>/dev/null)" = "$1" ] && cat /proc/$p/cmdline 2>/dev/null | tr '\0' ' ' | grep -qF -- "$D/"; }

mkdir -p "$D" && chmod 755 "$D" || die "cannot make $D"
exec 9>"$D/lock"; flock -w 120 9 || die "another up.sh holds $D/lock"
any=; alive munged "$D/munge/munged.pid" && any=1; alive slurmctld "$D/slurmctld.pid" && any=1
for ((i=0;i<NODES;i++)); do alive slurmd "$D/slurmd.n$i.pid" && any=1; done

# 3. a cold start: folders, key, configuration
if [ -z "$any" ]; then
  [ "${SLURM_TEST_KEEP:-0}" = 1 ] || rm -rf "$D/state" "$D/spool" "$D/log" "$D/munge"
  mkdir -p "$D/state" "$D/spool" "$D/log" "$D/munge" && chmod 755 "$D"/{state,spool,log,munge} || die "folders"
  for ((i=0;i<NODES;i++)); do mkdir -p "$D/spool/n$i"; done
  [ -s "$D/munge/key" ] || (umask 077; head -c 128 /dev/urandom > "$D/munge/key") || die "munge key"
  P0=$((PORT+1)) MEM=$(awk '/^MemTotal/{print int($2/1024*0.9)}' /proc/meminfo)
  cat > "$D/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$H(127.0.0.1)
SlurmctldPort=$PORT
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$D/munge/socket,cred_expire=5
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$D/log/jobcomp.log
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
SlurmdParameters=config_overrides
PropagateResourceLimits=NONE
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
KillWait=2
MinJobAge=3600
SlurmctldTimeout=30
SlurmdTimeout=30
StateSaveLocation=$D/state
SlurmdSpoolDir=$D/spool/%n
SlurmctldPidFile=$D/slurmctld.pid
SlurmdPidFile=$D/slurmd.%n.pid
SlurmctldLogFile=$D/log/slurmctld.log
SlurmdLogFile=$D/log/slurmd.%n.log
CONF
  for ((i=0;i<NODES;i++)); do
    echo "NodeName=n$i NodeHostname=$H NodeAddr=127.0.0.1 Port=$((P0+i)) CPUs=$CPUS RealMemory=$MEM State=UNKNOWN"
  done >> "$D/slurm.conf"
  echo "PartitionName=test Nodes=ALL Default=YES DefaultTime=10 MaxTime=INFINITE State=UP" >> "$D/slurm.conf"
fi
export SLURM_CONF=$D/slurm.conf

# 4. daemons, each only where it is not running; 9>&- so that none keeps the lock, cwd inside $D, no inherited output
cd "$D" || die "cd"
run(){ "$@" </dev/null >>"$D/log/start.log" 2>&1 9>&-; }
alive munged "$D/munge/munged.pid" || run munged --key-file="$D/munge/key" --socket="$D/munge/socket" --pid-file="$D/munge/munged.pid" \
  --log-file="$D/munge/munged.log" --seed-file="$D/munge/seed" || { tail -n 5 "$D/log/start.log" >&2; die "munged"; }
alive slurmctld "$D/slurmctld.pid" || run slurmctld -f "$D/slurm.conf" || { tail -n 5 "$D/log/start.log" >&2; die "slurmctld"; }
for n in $(scontrol -o show hostnames "$(sed -n 's/^NodeName=\([^ ]*\).*/\1/p' "$D/slurm.conf" | paste -sd,)"); do
  alive slurmd "$D/slurmd.$n.pid" || run slurmd -f "$D/slurm.conf" -N "$n" || { tail -n 5 "$D/log/start.log" >&2; die "slurmd $n"; }
done

# 5. wait for sinfo: all nodes idle, or busy with jobs of an earlier call
end=$((SECONDS+WAIT)); s=
while :; do
  s=$(timeout 10 sinfo -h -N -o %t 2>/dev/null | sort -u | paste -sd,)
  if [ -n "$s" ] && ! grep -qvE '^(idle|alloc|mix|comp)$' <<<"${s//,/$'\n'}"; then break; fi
  case $s in *down*|*drain*) [ $SECONDS -ge $((end-WAIT/2)) ] && scontrol update NodeName=ALL State=RESUME 2>/dev/null;; esac
  [ $SECONDS -ge $end ] && { for f in "$D"/log/*.log; do tail -n 5 "$f"; done >&2; die "nodes are '$s' after $WAIT s"; }
  sleep 0.1
done

# 6. nothing of ours may listen anywhere but on 127.x
for p in $(seq $PORT $((PORT+NODES))); do
  hex=$(printf %04X "$p")
  bad=$(cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk -v p="$hex" '$4=="0A"{split($2,a,":"); if(a[2]==p && !(length(a[1])==8 && substr(a[1],7)=="7F")) print $2}')
  [ -z "$bad" ] || die "port $p listens beyond loopback: $bad"
done
echo "up.sh: $(sinfo -h -o '%D node(s), %c CPUs each, %t' | paste -sd';')"
echo "export SLURM_CONF=$D/slurm.conf"

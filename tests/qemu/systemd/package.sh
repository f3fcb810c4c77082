# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Test the packages as users have them, from installation to purge, in a machine with systemd.
# shellcheck source=tests/lib/tap.sh
. /lib/tap.sh
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
debs=/run/payload/debs
all_capabilities="CAP_PERFMON CAP_BPF CAP_SYSLOG CAP_SYS_PTRACE CAP_DAC_READ_SEARCH \
CAP_CHECKPOINT_RESTORE"

# status KEY: print a value of "dcpictl status"
status()
{
	dcpictl --json status | sed -n "s/^ *\"$1\": *\"\{0,1\}\([^\",]*\).*/\1/p"
}

# wait_for: wait up to 30 s until the command succeeds.
wait_for()
{
	local _

	for _ in $(seq 60); do
		"$@" > /dev/null 2>&1 && return 0
		sleep 0.5
	done
	return 1
}

# drop_in TEXT: replace the settings of the unit, then restart the daemon
drop_in()
{
	mkdir -p /run/systemd/system/dcpid.service.d
	printf '[Service]\n%s\n' "$1" > /run/systemd/system/dcpid.service.d/test.conf
	systemctl daemon-reload
	systemctl reset-failed dcpid
	systemctl restart dcpid
}

main_pid()
{
	systemctl show -p MainPID --value dcpid
}

other_pid()
{
	[ "$(main_pid)" != 0 ] && [ "$(main_pid)" != "$1" ]
}

paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
check "the packages install" dpkg -i "$debs"/old/*.deb
is "kernel.perf_event_paranoid is as it was" "$(cat /proc/sys/kernel/perf_event_paranoid)" \
	"$paranoid"
is "DKMS built and installed the module" \
	"$(dkms status dcpi | grep -c "$(uname -r).*: installed")" 1
is "the units have nothing that systemd finds wrong" \
	"$(systemd-analyze --man=no verify dcpid.service dcpiweb.service 2>&1)" ""
is "dcpiweb is not enabled" "$(systemctl is-enabled dcpiweb)" disabled
check "the service is enabled" systemctl is-enabled dcpid
check "the service is active" wait_for systemctl is-active dcpid
is "it runs as its own user" "$(ps -o user= -p "$(main_pid)")" dcpi
is "the database's folder is for its group" "$(stat -c '%a %U:%G' /var/lib/dcpi)" "750 dcpi:dcpi"

# At boot, the module is loaded automatically; here it is loaded by hand.
check "the module loads" modprobe dcpi
udevadm settle
is "udev gives the device to the group" "$(stat -c '%a %U:%G' /dev/dcpi)" "660 root:dcpi"
systemctl restart dcpid
is "it counts with the module" "$(status source)" kmod
useradd -G dcpi member
useradd stranger
like "a member of the group asks the daemon" \
	"$(sudo -u member dcpictl status 2>&1)" "kmod"
like "others may not" "$(sudo -u stranger dcpictl status 2>&1)" "ermission denied|closed the connection"
sleep 3
dcpictl flush > /dev/null
like "a member reads the database" "$(sudo -u member dcpiprof -n 5 2>&1)" "accounting .*exact"
like "the kernel has names" "$(dcpiprof --by-image)" "vmlinux"
like "nothing is unknown" "$(dcpiprof)" "unknown +[0-9]+ samples, 0\.[0-9]+%"
like "others may not read it" "$(sudo -u stranger dcpiprof 2>&1)" "ermission denied|cannot open"

mkdir -p /etc/dcpi/dcpid.conf.d
echo 'label = reloaded' > /etc/dcpi/dcpid.conf.d/test.conf
before=$(main_pid)
check "systemctl reload reads drop-ins" systemctl reload dcpid
labelled()
{
	sqlite3 -readonly /var/lib/dcpi/dcpi.db 'SELECT label FROM epoch' | grep -qx reloaded
}
check "with a new epoch" wait_for labelled
is "and without a restart" "$(main_pid)" "$before"
rm /etc/dcpi/dcpid.conf.d/test.conf
like "what it says is in the journal, with levels" \
	"$(journalctl -u dcpid -p info -o cat --no-pager)" "sampling into /var/lib/dcpi/dcpi.db"
is "without errors" "$(journalctl -u dcpid -p err -o cat --no-pager)" ""

pid=$(main_pid)
kill -9 "$pid"
check "killed, it is started again" wait_for other_pid "$pid"
drop_in 'WatchdogSec=4'
pid=$(main_pid)
sleep 8
is "the watchdog lets a live one be" "$(main_pid)" "$pid"
kill -STOP "$pid"
check "one that hangs is replaced" wait_for other_pid "$pid"
like "by the watchdog" "$(journalctl -u dcpid -o cat --no-pager)" "[Ww]atchdog timeout"

# Remove each capability, and test which function is then missing. The module is unloaded, so that
# the daemon needs another sample source.
systemctl stop dcpid
rmmod dcpi
echo 'blacklist dcpi' > /etc/modprobe.d/test.conf
sleep 1000 &
victim=$!
tell()
{
	local active source kernel unknown

	sleep 4
	dcpictl flush > /dev/null 2>&1
	active=$(systemctl is-active dcpid)
	source=$(status source 2> /dev/null)
	kernel=$(dcpiprof --epoch last 2> /dev/null | grep -c 'vmlinux')
	unknown=$(dcpiprof --epoch last 2> /dev/null | sed -n 's/^unknown *//p')
	echo "$1: $active, source ${source:-none}, kernel procedures ${kernel}, unknown ${unknown:--}"
}
# Debian's kernel permits perf_event_open() only with CAP_SYS_ADMIN, which the package adds.
check "the service starts without the module" drop_in ""
tell "all capabilities"
is "it counts in the kernel all the same" "$(status source)" bpf
for capability in $all_capabilities; do
	rest=$(for c in $all_capabilities CAP_SYS_ADMIN; do [ "$c" = "$capability" ] || echo "$c"; done | paste -sd " ")
	drop_in "CapabilityBoundingSet=
CapabilityBoundingSet=$rest
AmbientCapabilities=
AmbientCapabilities=$rest" 2> /dev/null
	tell "without $capability"
done
kill $victim
rm -r /run/systemd/system/dcpid.service.d /etc/modprobe.d/test.conf
systemctl daemon-reload
systemctl reset-failed dcpid
systemctl restart dcpid
systemd-analyze security --no-pager dcpid 2> /dev/null | tail -n 1

epochs=$(sqlite3 /var/lib/dcpi/dcpi.db 'SELECT count(*) FROM epoch')
check "the packages upgrade" dpkg -i "$debs"/new/*.deb
check "the service runs again" wait_for systemctl is-active dcpid
like "with the new version" "$(dcpid --version)" "9\.9"
is "which DKMS has built too" "$(dkms status dcpi | grep -c "9.9.*: installed")" 1
check "the database was kept" test "$(sqlite3 /var/lib/dcpi/dcpi.db 'SELECT count(*) FROM epoch')" \
	-gt "$epochs"

check "the packages are removed" dpkg -r dcpi dcpi-dkms
is "the service is gone" "$(systemctl is-active dcpid)" inactive
is "the module too" "$(dkms status dcpi)" ""
check "the database stays" test -e /var/lib/dcpi/dcpi.db
check "until they are purged" dpkg -P dcpi dcpi-dkms
is "nothing is left" "$(ls -d /var/lib/dcpi /etc/dcpi /run/dcpi /usr/src/dcpi* 2> /dev/null)" ""
tap_done

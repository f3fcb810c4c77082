# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Test the analysis of code of the kernel and of modules: the daemon reads it from memory, the tools
# show the hottest procedures, and neither the database nor the tools reveal the kernel's location.
# shellcheck source=tests/lib/tap.sh
. /lib/tap.sh
# shellcheck source=tests/qemu/profile.sh
. /lib/profile.sh

# no_address WHAT TEXT: test that there is no address of the kernel
no_address()
{
	is "$1 has no kernel address" "$(echo "$2" | grep -cE 'ffff[89a-f][0-9a-f]{11}')" 0
}

daemon_start --source bpf -e cpu-clock:180000-200000
is "the daemon starts" $? 0
dd if=/dev/zero of=/dev/null bs=4k count=200000 2> /dev/null
dd if=/dev/urandom of=/dev/null bs=64k count=100 2> /dev/null
check "it stores everything when asked" dcpictl --socket "$dcpid_socket" flush
dcpictl --socket "$dcpid_socket" stats > /tmp/stats
like "each procedure could be read" "$(cat /tmp/stats)" '^stat.code_unreadable +0$'
kernel_addresses "$db" > /tmp/addresses
is "no address is in the stored code" $? 0
like "the database has code of the kernel" "$(cat /tmp/addresses)" '[1-9][0-9]{4,} bytes'
daemon_stop
is "the daemon ends with 0" $? 0
no_address "the log" "$(cat /tmp/dcpid.log)"

dcpiprof --db "$db" --csv --image 'vmlinux*' > /tmp/prof.csv
like "idle time is marked" "$(dcpiprof --db "$db" --image 'vmlinux*')" '_halt \[idle\]'
name=$(awk -F, 'NR > 1 && !/_halt/ { sub(/ .*/, "", $4); print $4; exit }' /tmp/prof.csv)
samples=$(awk -F, 'NR > 1 && !/_halt/ { print $1; exit }' /tmp/prof.csv)
dcpicalc --db "$db" --image 'vmlinux*' > /tmp/calc 2>&1
like "dcpicalc shows the hottest procedure of the kernel that is not idle" "$(cat /tmp/calc)" \
	"^procedure +${name}[^:]*: $samples samples"
# Other tools know each procedure that dcpiprof lists.
missing=
# shellcheck disable=SC2013 # names of procedures
for procedure in $(awk -F, 'NR > 1 && NR < 22 { sub(/ .*/, "", $4); print $4 }' /tmp/prof.csv); do
	dcpilist --db "$db" --asm --image 'vmlinux*' "$procedure" > /tmp/list 2>&1 ||
		missing="$missing $procedure"
	cat /tmp/list >> /tmp/lists
done
is "dcpilist --asm lists the 20 hottest ones" "$missing" ""
no_address "dcpilist" "$(cat /tmp/lists)"
no_address "dcpicalc" "$(cat /tmp/calc)"
dcpisumm --db "$db" > /tmp/summ 2>&1
like "dcpisumm analyses the kernel" "$(cat /tmp/summ)" '%.* vmlinux'
no_address "dcpisumm" "$(cat /tmp/summ)"
dcpiexport --db "$db" --format callgrind > /tmp/export 2>&1
no_address "dcpiexport" "$(cat /tmp/export)"

# Without permission to see addresses, there is one message, and programs are profiled.
cp "$db" /tmp/first.db
restrict=$(cat /proc/sys/kernel/kptr_restrict)
echo 2 > /proc/sys/kernel/kptr_restrict
daemon_start --source bpf -e cpu-clock:180000-200000
is "kptr_restrict=2: the daemon starts" $? 0
split 1000
dcpictl --socket "$dcpid_socket" flush
daemon_stop
is "kptr_restrict=2: the daemon ends with 0" $? 0
is "kptr_restrict=2: one message" "$(grep -c 'kptr_restrict' /tmp/dcpid.log)" 1
check "kptr_restrict=2: programs have samples" [ "$(query "SELECT ifnull(sum(count), 0)
	FROM dcpi_samples WHERE path LIKE '%/split'")" -gt 100 ]
is "kptr_restrict=2: no code of the kernel is stored" "$(query "SELECT count(*) FROM code
	JOIN image ON image.id = code.image WHERE image.path <> '[vdso]'")" 0
echo "$restrict" > /proc/sys/kernel/kptr_restrict
mv /tmp/first.db "$db"

dcpiprof --db "$db" -n 12 | sed 's/^/# /'
sed 's/^/# /' /tmp/addresses /tmp/calc /tmp/summ /tmp/dcpid.log
sed -n 1,60p /tmp/lists | sed 's/^/# /'
grep code /tmp/stats | sed 's/^/# /'
tap_done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# A hostile user runs the superuser's JIT compiler, and chooses the names in its perf map. Samples and
# names of the superuser's JIT code must stay in the superuser's image.
#
#	DCPI_BUILD	where the build is (default: build)
# shellcheck disable=SC2119 # daemon_stop takes a signal or nothing
set -u
# shellcheck source=tests/lib/daemon_cli.sh
. "$(dirname "$0")/../lib/daemon_cli.sh"
. "$top/tests/lib/profile_cli.sh"

if [ "$(id -u)" -ne 0 ]; then
	skip "a hostile user" "needs the superuser and another user"
	tap_done
	exit
fi

attacker=65534
public=$work/public
socket=$work/dcpid.sock
: > "$work/empty.conf"
mkdir -m 755 "$public" && chmod 755 "$work" &&
	${CC:-gcc} -O2 -o "$public/jit" "$top/tests/fixtures/programs/jit_maps.c" || exit 1

# samples PATH: print the samples in JIT code of this path
samples()
{
	sql "$db" "SELECT ifnull(sum(samples), 0) FROM profile JOIN image ON image.id = image
		WHERE kind = 4 AND path = '$1'"
}

# stored PATH: there are many, and the daemon has stored them
stored()
{
	"$bin/dcpictl" --socket "$socket" flush > /dev/null
	[ "$(samples "$1")" -gt 50 ]
}

roots="$public/jit [jit]"
users="$public/jit [jit of user $attacker]"
daemon=("$bin/dcpid" --source perf -e cpu-clock:1000000 --config "$work/empty.conf"
	--socket "$socket" --audit-socket "" --image-store none --drain-interval 100)
db=$work/jit.db
daemon_start --db "$db" || {
	not_ok "the daemon starts" "$(cat "$work/log")"
	tap_done
	exit
}

setpriv --reuid $attacker --regid $attacker --clear-groups "$public/jit" big 1000 10 &
wait $!
check "the user's code has an image of its own" eventually stored "$users"
is "the user's samples are not the superuser's" "$(samples "$roots")" 0
is "the user's names are in that image" \
	"$(procedure_samples hot "${users//[/\\[}")" "$(samples "$users")"

before=$(samples "$users")
"$public/jit" big 1000 10 &
wait $!
check "the superuser's code has an image" eventually stored "$roots"
is "the superuser's samples are not the user's" "$(samples "$users")" "$before"
is "the images have different identities" "$(sql "$db" "SELECT count(DISTINCT hex(identity)) FROM image
	WHERE kind = 4 AND path IN ('$roots', '$users')")" 2

# In a namespace of its own, a user can bind a file of the superuser to the path of a perf map.
cat > "$work/secret.sh" <<-'SH'
	rm -f "/tmp/perf-$$.map"
	cp "$1" "/tmp/perf-$$.map" && chmod "$2" "/tmp/perf-$$.map"
	# It must not be older than the program that follows.
	touch -d "1 hour" "/tmp/perf-$$.map"
	exec setpriv --reuid "$3" --regid "$3" --clear-groups "$4" quiet 1000 10
SH
echo "7e0000000000 1000 secret" > "$work/secret"
names=()

# secret_run MODE: run the user's program with a map of this mode, and set $names[MODE]
secret_run()
{
	sh "$work/secret.sh" "$work/secret" "$1" $attacker "$public/jit" &
	wait $!
	"$bin/dcpictl" --socket "$socket" flush > /dev/null
	rm -f "/tmp/perf-$!.map"
	names[$1]=$(procedure_samples secret "${users//[/\\[}")
}

# The user's CPU time for maps may be used up by the large map above.
readable_is_read()
{
	secret_run 644
	[ "${names[644]}" -gt 50 ]
}
eventually readable_is_read
secret_run 600
check "a map of the superuser that the user may read has names" [ "${names[644]}" -gt 50 ]
is "a map that the user may not read has none more" "${names[600]}" "${names[644]}"

# The path of the map leads to something that is not a regular file of the user.
cat > "$work/kinds.sh" <<-'SH'
	rm -f "$1"
	case $2 in
	fifo) mkfifo "$1" ;;
	link) ln -s "$3" "$1" ;;
	device) mknod "$1" c 1 5 ;;
	folder) mkdir "$1" ;;
	sparse) truncate -s 1T "$1" && chown "$4" "$1" ;;
	esac
SH
cp "$work/secret" "$public/linked" && chown $attacker "$public/linked"

# kind_run KIND: run the user's program with a map of this kind; it must not delay the daemon
kind_run()
{
	sh -c 'sh "$1/kinds.sh" "/tmp/perf-$$.map" "$2" "$3" "$4"
		exec setpriv --reuid "$4" --regid "$4" --clear-groups "$5" quiet 300 10' \
		sh "$work" "$1" "$public/linked" $attacker "$public/jit" &
	wait $!
	check "a map of another kind ($1): the daemon answers" "$bin/dcpictl" --socket "$socket" flush
	rm -rf "/tmp/perf-$!.map"
}
before=$(samples "$users")
for kind in fifo link device folder sparse; do
	kind_run $kind
done
is "maps that are no regular files have no names" \
	"$(procedure_samples secret "${users//[/\\[}")" "${names[600]}"

# A map in a mount namespace of its own has the names of that namespace.
in_namespace()
{
	# shellcheck disable=SC2016 # for that shell
	setpriv --reuid $attacker --regid $attacker --clear-groups unshare -Urm sh -c '
		exec 3< "$0" && mount -t tmpfs none /tmp && exec /proc/self/fd/3 big 300 10' \
		"$public/jit" &
	wait $!
	"$bin/dcpictl" --socket "$socket" flush > /dev/null
	[ "$(samples "$users")" -gt $((before + 50)) ]
}
if unshare -Urm true 2> /dev/null; then
	check "a map in a mount namespace has names" eventually in_namespace
else
	skip "a map in a mount namespace" "no user namespaces"
fi
is "the superuser's samples are still apart" "$(sql "$db" "SELECT count(*) FROM image
	WHERE path = '$roots'")" 1

# Processes without privileges parse the maps, and are started again.
parser()
{
	pgrep -P "$daemon_pid" -x dcpid-jit
}
if [ -z "${DCPI_BUILD:-}" ]; then
	for pid in $(parser); do
		is "a process that parses maps has no privileges" \
			"$(awk '$1 == "CapEff:" || $1 == "NoNewPrivs:" || $1 == "Uid:" { print $2 }' \
				"/proc/$pid/status" | xargs)" "65534 0000000000000000 1"
	done
fi
# shellcheck disable=SC2046 # one argument for each process
kill -SEGV $(parser)
before=$(samples "$users")
names_again()
{
	setpriv --reuid $attacker --regid $attacker --clear-groups "$public/jit" big 300 10 &
	wait $!
	"$bin/dcpictl" --socket "$socket" flush > /dev/null
	[ "$(samples "$users")" -gt $((before + 50)) ]
}
check "after a crash of these processes, there are names" eventually names_again
daemon_stop
is "the daemon stops in good order" "$daemon_status" 0
tap_done

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
daemon_stop
is "the daemon stops in good order" "$daemon_status" 0
tap_done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: alone
#
# Images of every kind: a program of each kind is profiled, and its samples must be in the right
# image and procedure. Namespaces and other users need root.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
. "$(dirname "$0")/../lib/daemon_cli.sh"
. "$top/tests/lib/profile_cli.sh"

# kinds_build NAME FLAG...: build the program with a new build ID
kinds_build()
{
	local name=$1

	shift
	${CC:-gcc} -O2 -g "$@" -Wl,--build-id="0x$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')" \
		-o "$work/$name" "$top/tests/fixtures/programs/kinds.c" -ldl || exit 1
}
kinds_build kinds
kinds_build kinds-static -static -DKINDS_STATIC
kinds_build kinds-static-pie -static-pie -fPIE -DKINDS_STATIC
kinds_build kinds-fixed -no-pie
kinds_build libkinds.so -shared -fPIC -DKINDS_LIBRARY

# Images of code that programs generate at run time. The kernel's BPF programs have the same kind,
# and may include the profiler's own.
jits="kind = 4 AND path LIKE '%[jit]'"

user_samples()
{
	sql "$db" "SELECT ifnull(sum(samples), 0) FROM profile p JOIN image i ON i.id = p.image
		WHERE i.kind IN (0, 5) OR $jits"
}

# most_in NAME PROCEDURE IMAGE [PERCENT [POINTS]]: test that the procedure has all samples in user
# mode, within five percentage points, or PERCENT of them, within ten. The limits allow for a virtual
# CPU whose speed varies within half a second
most_in()
{
	local got all

	got=$(procedure_samples "$2" "$3")
	all=$(user_samples)
	if awk -v got="$got" -v all="$all" -v want="${4:-100}" -v points="${5:-$((${4:-100} == 100 ? 5 : 10))}" 'BEGIN {
		share = all > 0 ? 100 * got / all : 0
		exit !(all > 200 && share >= want - points && share <= want + points) }'; then
		ok "$1: $2 is in its image"
	else
		not_ok "$1: $2 is in its image" "$got of $all samples
$("$bin/dcpiprof" --db "$db" -n 10 2>&1 | cut -c 1-200)"
	fi
}

identity_of()
{
	readelf -n "$1" | awk '/Build ID/ { print $3 }'
}

# image_identity PATTERN: print the build-id of the image whose path matches. It follows a digest of
# the contents (PROFILE_IDENTITY_CONTENT) if the file has no path that only root can write.
image_identity()
{
	sql "$db" "SELECT lower(hex(iif(identity_kind = 3, substr(identity, 13), identity)))
		FROM image WHERE path LIKE '$1' AND kind = 0"
}

jit_images()
{
	sql "$db" "SELECT count(*) FROM image WHERE $jits"
}

# If the kernel permits only few samples, the programs run longer, up to eight times.
profile patience "$work/kinds" text 200
patience=$(sql "$db" "SELECT min(max((160 + sum(samples)) / max(sum(samples), 1), 1), 8) FROM profile")
time_ms=$((400 * patience))

# Files of all types, unchanged.
for program in kinds kinds-static kinds-static-pie kinds-fixed; do
	profile "$program" "$work/$program" text $time_ms
	most_in "$program" kinds_spin "$work/$program"
done
profile dlopen "$work/kinds" dlopen $time_ms "$work/libkinds.so"
most_in dlopen kinds_library "$work/libkinds.so"

# The file is deleted, or another one has its name: samples belong to the executed file, by
# build-id.
cp "$work/kinds" "$work/unlinked"
profile unlinked "$work/unlinked" unlinked 300
is "unlinked: its samples are in the image executed" "$(image_identity '%/unlinked%')" \
	"$(identity_of "$work/kinds")"
cp "$work/kinds" "$work/renamed"
cp "$work/kinds-fixed" "$work/other"
profile renamed "$work/renamed" renamed 300 "$work/other"
is "replaced: its samples are in the image executed" "$(image_identity '%/renamed')" \
	"$(identity_of "$work/kinds")"
profile memfd "$work/kinds" memfd 300
is "memfd: its samples are in the image executed" \
	"$(sql "$db" "SELECT lower(hex(identity)) FROM profile p JOIN image i ON i.id = p.image
		WHERE kind = 0 ORDER BY samples DESC LIMIT 1")" "$(identity_of "$work/kinds")"

# Text copied to anonymous memory and moved in place by mremap(), which the kernel does not report:
# it is still credited to the file, which is correct.
profile huge "$work/kinds" huge $time_ms
most_in "text moved to other memory" kinds_spin "$work/kinds"

# Code generated at run time.
profile map "$work/kinds" map $time_ms
most_in "perf map" hot_seventy "$work/kinds \\[jit\\]" 70
most_in "perf map" hot_thirty "$work/kinds \\[jit\\]" 30
profile fork "$work/kinds" fork $time_ms
most_in "perf map of a parent" hot_seventy "$work/kinds \\[jit\\]" 70
most_in "perf map of a parent" hot_thirty "$work/kinds \\[jit\\]" 30
profile dump "$work/kinds" dump $time_ms "$work"
most_in jitdump hot_seventy "$work/kinds \\[jit\\]" 70
most_in jitdump hot_thirty "$work/kinds \\[jit\\]" 30
is "jitdump: the code is kept" "$(sql "$db" "SELECT count(*) FROM code
	JOIN image ON image.id = code.image WHERE $jits")" 2
like "jitdump: the code is analysed" "$("$bin/dcpicalc" --db "$db" hot_seventy 2>&1)" \
	'imul|madd'
profile recycle "$work/kinds" recycle $((time_ms + 100))
is "memory used again: all of it is known" "$(unknown anonymous)" 0
most_in "memory used again" hot_old "$work/kinds \\[jit\\]" 50 20
most_in "memory used again" hot_new "$work/kinds \\[jit\\]" 50 20

# Runs of a program share an image: a database does not grow with them.
jit_size()
{
	sql "$db" "SELECT count(*), (SELECT count(*) FROM code
		JOIN image ON image.id = code.image WHERE $jits), (SELECT sum(symbols) FROM
		symbol JOIN image ON image.id = symbol.image WHERE $jits)
		FROM image WHERE $jits"
}

profile runs "$work/kinds" dump 200 "$work"
is "one run: an image, two procedures" "$(jit_size)" "1|2|2"
profile runs "$work/kinds" dump 200 "$work"
profile runs "$work/kinds" dump 200 "$work"
is "three runs: the same" "$(jit_size)" "1|2|2"
is "three runs: every sample is accounted for" "$(identity "$db")" ""

# Files at the place of a perf map that are invalid: the profiler neither reads them nor waits for
# them. The program writes its true map to another place.
#
# hostile WHAT SHELL: run by the shell that becomes the program, so that $$ is its process id
hostile()
{
	true_map=$work/true.map
	profile "hostile-${1// /-}" timeout --foreground "$(patience)" sh -c \
		"echo \$\$ > $work/pid; $2; exec \"\$0\" map 200 \"\$1\"" "$work/kinds" "$true_map"
	is "$1 in the place of a perf map is not read" "$(jit_images)" 0
	is "$1 in the place of a perf map: every sample is accounted for" "$(identity "$db")" ""
	rm -f "$true_map"
}

# shellcheck disable=SC2016 # for that shell
{
	hostile "a FIFO" 'mkfifo /tmp/perf-$$.map'
	hostile "a directory" 'mkdir /tmp/perf-$$.map'
	hostile "a symbolic link" 'ln -s "$1" /tmp/perf-$$.map'
}

# Invalid jitdumps, and one that grows faster than the profiler reads.
for kind in corrupt truncated growing; do
	profile "dump-$kind" timeout --foreground "$(patience)" python3 "$top/tests/fixtures/programs/bad_jitdump.py" $kind 400 "$work"
	is "a $kind jitdump: every sample is accounted for" "$(identity "$db")" ""
done
rm -f "$work"/jit-*.dump

# A BPF program, by the name it has in the kernel.
${CC:-gcc} -O2 -o "$work/bpf_spin" "$top/tests/fixtures/programs/bpf_spin.c" || exit 1
if "$work/bpf_spin" 10 2> "$work/out"; then
	# The directory and the mask are those of the packaged service.
	mkdir -m 750 "$work/private"
	db=$work/private/bpf.db
	: > "$work/empty.conf"
	umask 027
	"$bin/dcpid" --source perf --socket "$work/sock" --config "$work/empty.conf" --db "$db" \
		-e cpu-clock 2> "$work/log" &
	pids+=($!)
	umask 022
	daemon_pid=$! socket=$work/sock
	eventually daemon_decided
	"$work/bpf_spin" 1000
	if [ "$(id -u)" -eq 0 ]; then
		cp "$bin/dcpictl" "$work/dcpictl"
		other=(setpriv --reuid=65534 --regid=65534 --clear-groups --)
		check "another user may run dcpictl" "${other[@]}" "$work/dcpictl" --version
		refused "another user cannot talk to the daemon" 'Permission denied' \
			"${other[@]}" "$work/dcpictl" --socket "$work/sock" status
		check "another user cannot read the database" \
			sh -c '! "$@" 2> /dev/null' sh "${other[@]}" cat "$db"
		is "nor anybody who is not in the group" "$(stat -c %a "$db")" 640
	fi
	kill "${pids[-1]}" && wait "${pids[-1]}"
	unset 'pids[-1]'
	like "a BPF program: its tag and name" \
		"$("$bin/dcpiprof" --db "$db" --csv -i "\\[bpf\\]")" \
		',bpf_prog_[0-9a-f]{16}_dcpi_spin,\[bpf\],'
	is "a BPF program: the kernel has no unknown code" "$(unknown kernel)" 0
else
	skip "a BPF program" "$(cat "$work/out")"
fi

if [ "$(id -u)" -ne 0 ] || ! unshare -m -p -f true 2> /dev/null; then
	skip "namespaces" "needs root, and to be allowed to make namespaces"
	tap_done
	exit
fi

# A container: a separate root directory and PID namespace. Its perf map is in its own /tmp, named
# after the process id inside the container.
root=$work/root
mkdir -p "$root/tmp" "$root/bin"
cp "$work/kinds-static" "$root/bin/kinds"
contained()
{
	local name=$1

	shift
	profile "$name" unshare -m -p -f chroot "$root" /bin/kinds "$@"
}

contained container text $time_ms
is "a container: its program" "$(image_identity /bin/kinds)" "$(identity_of "$work/kinds-static")"
contained container-map map $time_ms
most_in "a container: perf map" hot_seventy "*/bin/kinds \\[jit\\]" 70
most_in "a container: perf map" hot_thirty "*/bin/kinds \\[jit\\]" 30
is "a container: by its own process id" "$(ls "$root/tmp")" perf-1.map
contained container-dump dump $time_ms /tmp
most_in "a container: jitdump" hot_seventy "*/bin/kinds \\[jit\\]" 70

# Links to a valid map outside of the container: for the map itself, and for the directory. Inside
# the container their targets do not exist.
rm -f "$root"/tmp/*
ln -s "$root/perf-1.map" "$root/tmp/perf-1.map"
contained container-link map 200 /perf-1.map
is "a container: a link to outside is not followed" "$(jit_images)" 0
rm -rf "$root/tmp"
ln -s "$root" "$root/tmp"
contained container-tmp map 200 /perf-1.map
is "a container: nor is one on the way" "$(jit_images)" 0
rm "$root/tmp"
ln -s / "$root/tmp"
contained container-inside map 200 /perf-1.map
is "a container: one that stays inside is" "$(jit_images)" 1

# A map that belongs to neither the process' user nor root.
# shellcheck disable=SC2016 # for that shell
hostile "another user's file" \
	': > "$1"; chown 65534 "$1"; ln "$1" /tmp/perf-$$.map || cp -p "$1" /tmp/perf-$$.map'

# Names with a newline, and as long as a path may be.
odd=$work/$'new\nline'
cp "$work/kinds" "$odd"
profile newline "$odd" text 200
is "a path with a newline: the image executed" "$(sql "$db" "SELECT lower(hex(identity)) FROM image
	WHERE kind = 0 AND path LIKE '%new' || char(10) || 'line'")" "$(identity_of "$work/kinds")"
is "a path with a newline: one line in a report" "$("$bin/dcpiprof" --db "$db" 2>&1 |
	grep -c 'kinds_spin.*new.line')" 1
long=$work
while [ ${#long} -lt 3900 ]; do
	long=$long/$(printf 'd%.0s' $(seq 120))
done
mkdir -p "$long"
cp "$work/kinds" "$long/kinds"
profile long "$long/kinds" text 200
is "a path of 4,000 bytes: the image executed" "$(sql "$db" "SELECT lower(hex(identity)) FROM image
	WHERE kind = 0 AND length(path) > 3900")" "$(identity_of "$work/kinds")"
tap_done

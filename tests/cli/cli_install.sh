#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# "make install" and "make uninstall": all files are installed, work there, and are removed.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

root=$(mktemp -d) || exit 2
trap 'rm -rf "$root"' EXIT
# Another make may have called this script: its options and jobs must not be inherited.
unset MAKEFLAGS MFLAGS MAKELEVEL DCPI_DB
make=(make --no-print-directory DESTDIR="$root/stage dir" PREFIX=/opt/dcpi)
prefix="$root/stage dir/opt/dcpi"

# files: print the installed files, as "mode path"
files()
{
	(cd "$root" && find . ! -type d -printf '%m %p\n' | sort -k 2)
}

check "make install" "${make[@]}" install
expected=$(
	for path in build/bin/*; do
		case ${path##*/} in
		dcpid | dcpiship) echo "755 sbin/${path##*/}" ;;
		*) echo "755 bin/${path##*/}" ;;
		esac
	done
	for path in build/lib/*.so; do
		echo "644 lib/dcpi/${path##*/}"
	done
	for path in systemd/system/dcpid.service systemd/system/dcpiship@.service \
		systemd/system/dcpiweb.service \
		sysusers.d/dcpi.conf tmpfiles.d/dcpi.conf \
		udev/rules.d/70-dcpi.rules; do
		echo "644 lib/$path"
	done
	for path in build/bin/*; do
		echo "644 share/bash-completion/completions/${path##*/}"
	done
	for path in accuracy.md blind-spots.md bursts.md calls.md dcpicalc-json.md fleet.md glossary.md \
		operations.md overhead.md performance.md reports.schema.json threat-model.md tutorial.md \
		tutorial/matrix.c optimize.md optimize/interpreter.c variation.md results/accuracy.md results/accuracy-record.md \
		results/optimize.md results/overhead.md results/performance.md results/sample_cost.svg web/LICENSES \
		systemd/dcpiopt.service systemd/dcpiopt.timer; do
		echo "644 share/dcpi/$path"
	done
	for path in docs/man/*.scd; do
		page=$(basename "$path" .scd)
		echo "644 share/man/man${page##*.}/$page"
	done
)
is "what is installed" "$(files | sed "s,\\./stage dir/opt/dcpi/,,")" \
	"$(printf '%s\n' "$expected" | sort -k 2)"

# The daemon has the capabilities that it needs; the rights of other users are left to the
# administrator.
is "nothing changes kernel.perf_event_paranoid" "$(grep -rl perf_event_paranoid packaging)" ""
like "the service has CAP_PERFMON" "$(cat packaging/systemd/dcpid.service.in)" \
	'^AmbientCapabilities=.*CAP_PERFMON'

# Manual pages refer to installed files only, never to files of the source tree.
is "manual pages refer to no file of the source tree" "$(grep -nE \
	'(^|[ _*"(])(docs|tests|packaging|tools|daemon|build)/[A-Za-z0-9_]' docs/man/*.scd)" ""
while read -r path; do
	case $path in
	/etc/dcpi/dcpiship) ;; # The administrator makes this folder.
	/etc/dcpi/dcpid.conf*) like "the package has $path" "$(cat packaging/debian/rules)" "$path\$" ;;
	*) check "manual pages refer to $path" [ -e "$prefix/${path#/usr/}" ] ;;
	esac
done < <(grep -hoE '/usr/(share|lib)/dcpi/[A-Za-z0-9._-]*[A-Za-z0-9]|/etc/dcpi/[a-z.]*[a-z]' \
	docs/man/*.scd | sort -u)

# Installed documents link only to each other.
bad=
while IFS=: read -r document link; do
	link=${link#](} link=${link%)} link=${link%%#*}
	case $link in https:* | http:* | '') continue ;; esac
	[ -e "$(dirname "$document")/$link" ] || bad+="${document#"$prefix"/}: $link"$'\n'
done < <(grep -roE '\]\([^)]+\)' "$prefix/share/dcpi" --include='*.md')
is "links of installed documents lead to installed documents" "$bad" ""
page_documents=$(sed -n '/^_\/usr\/share\/dcpi\/_/,/^# /p' docs/man/dcpi.7.scd | grep -oE '_[a-z-]+\.(md|schema\.json|json)_' |
	tr -d _)
check "dcpi(7) names documents" [ "$(wc -w <<< "$page_documents")" -ge 10 ]
for name in $page_documents; do
	check "dcpi(7) refers to the installed $name" [ -e "$prefix/share/dcpi/$name" ]
done

for path in "$prefix"/bin/* "$prefix"/sbin/*; do
	name=${path##*/}
	like "$name runs from there" "$(cd / && env -i "$path" --version 2>&1)" \
		"^$name \(DCPI for Linux\) [0-9]"
	is "$name needs no library of the build" \
		"$(ldd "$path" | grep -E "not found|$PWD")" ""
done
if command -v sqlite3 > /dev/null; then
	sqlite3 "$root/empty.db" < db/schema.sql
	is "the SQLite extension loads from there" "$(sqlite3 -cmd \
		".load '$prefix/lib/dcpi/dcpi_sqlite'" "$root/empty.db" \
		"SELECT count(*) FROM dcpi_samples" 2>&1)" 0
	rm "$root/empty.db"
else
	skip "the SQLite extension loads from there" "no sqlite3"
fi

like "the unit starts the daemon that was installed" \
	"$(cat "$prefix/lib/systemd/system/dcpid.service")" '^ExecStart=/opt/dcpi/sbin/dcpid$'
like "the optional unit prepares copies, and installs none" \
	"$(grep '^Exec' "$prefix/share/dcpi/systemd/dcpiopt.service")" '^ExecStart=/opt/dcpi/bin/dcpiopt prepare '
# complete WORD...: print the completions that bash offers for the last word
complete()
{
	PATH=$prefix/bin:$prefix/sbin:$PATH bash -c '
		. "$0"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_dcpi
		printf "%s\n" "${COMPREPLY[@]}"' \
		"$prefix/share/bash-completion/completions/dcpictl" "$@" | sort
}
is "bash completes commands" "$(complete dcpictl st)" "$(printf '%s\n' stats status stop)"
is "and options" "$(complete dcpiprof --since)" "--since"
is "and sources" "$(complete dcpid --source k)" "kmod"
check "make install once more" "${make[@]}" install
echo "somebody else's" > "$prefix/lib/dcpi/other"
check "make uninstall" "${make[@]}" uninstall
is "uninstalling leaves what is not ours" "$(files)" "644 ./stage dir/opt/dcpi/lib/dcpi/other"
rm "$prefix/lib/dcpi/other"
check "make uninstall once more" "${make[@]}" uninstall
is "uninstalling leaves no file and no directory of ours" "$(files; ls "$prefix/lib")" ""

tap_done

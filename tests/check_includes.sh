#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Check the include rules of CONTRIBUTING.md: the parts that each part may include. The project's
# headers are included by their path from the top; a folder's private kernel headers by name.
#
#   tests/check_includes.sh            check everything
#   tests/check_includes.sh --table    print the table of parts in CONTRIBUTING.md
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/lib/tap.sh

# folder, own headers it may include, system headers it must not include
rules='
kmod/uapi     ^$                                                 ^(?!linux/(types|ioctl)\.h$)
kmod/core     ^(\.\./uapi/.*|core_env(_user)?\.h|[a-z0-9_]+\.h)$ ^(sqlite3|elfutils|pthread)
lib           ^lib/                                              ^(sqlite3|elfutils|gelf|libelf|json)
loader-hook   ^(loader-hook|lib|kmod/uapi)/                      ^(sqlite3|json|xxhash)
loader-hook/audit ^(loader-hook/(audit/|image_event\.h|build_id\.h)|lib/system_call\.h$) ^(?!(elf|link|std(int|bool|def)|fcntl|time|sys/(syscall|prctl|socket|un))\.h$)
daemon        ^(daemon|kmod/uapi|kmod/core|loader-hook|lib|db/profile\.h|db/profile_(write|read|merge|pairs|place)\.h) ^(sqlite3|elfutils|gelf|libelf)
daemon/base ^(daemon/(base)/|kmod/uapi|kmod/core|loader-hook|lib|db/profile\.h|db/profile_(write|read|merge)\.h) ^(sqlite3|elfutils|gelf|libelf)
daemon/image ^(daemon/(base|image)/|kmod/uapi|kmod/core|loader-hook|lib|db/profile\.h|db/profile_(write|read|merge)\.h) ^(sqlite3|elfutils|gelf|libelf)
daemon/unwind ^(daemon/unwind|lib)/ ^(sqlite3|elfutils|gelf|libelf)
daemon/source ^(daemon/(base|source)/|daemon/image/image_file\.h$|daemon/unwind/unwind_(rule|step)\.h$|kmod/uapi|kmod/core|loader-hook|lib|db/profile\.h|db/profile_(write|read|merge)\.h) ^(sqlite3|elfutils|gelf|libelf)
daemon/event ^(daemon/(base|source|event)/|kmod/uapi|kmod/core|loader-hook|lib|db/profile\.h|db/profile_(write|read|merge)\.h) ^(sqlite3|elfutils|gelf|libelf)
daemon/archive ^(daemon/(base|image|archive)/|kmod/uapi|kmod/core|loader-hook|lib|db/profile\.h|db/profile_(write|read|merge)\.h) ^(sqlite3|elfutils|gelf|libelf)
daemon/jit ^(daemon/(base|image|jit)/|kmod/uapi|kmod/core|loader-hook|lib|db/profile\.h|db/profile_(write|read|merge)\.h) ^(sqlite3|elfutils|gelf|libelf)
daemon/code ^(daemon/(base|image|code)/|kmod/core|loader-hook|lib|db/profile\.h|db/profile_write\.h) ^(sqlite3|elfutils|gelf|libelf)
daemon/collect ^(daemon/(base|image|source|event|archive|jit|code|unwind|collect)/|kmod/uapi|kmod/core|loader-hook|lib|db/profile\.h|db/profile_(write|read|merge|pairs|place)\.h) ^(sqlite3|elfutils|gelf|libelf)
daemon/import ^(daemon/(base|image|source|event|archive|jit|code|unwind|collect|import)/|kmod/uapi|kmod/core|loader-hook|lib|db/profile\.h|db/profile_(write|read|merge)\.h) ^(sqlite3|elfutils|gelf|libelf)
db            ^(db|lib)/                                         ^(elfutils|gelf|libelf|linux/)
analysis      ^(analysis|lib|db/profile\.h)                      ^(sqlite3|json|linux/)
analysis/insn ^((analysis/(insn)|lib)/|db/profile\.h) ^(sqlite3|json|linux/)
analysis/image ^((analysis/(insn|image)|lib)/|db/profile\.h) ^(sqlite3|json|linux/)
analysis/graph ^((analysis/(insn|image|graph)|lib)/|db/profile\.h) ^(sqlite3|json|linux/)
analysis/machine ^((analysis/(insn|image|graph|machine)|lib)/|db/profile\.h) ^(sqlite3|json|linux/)
analysis/frequency ^((analysis/(insn|image|graph|machine|frequency)|lib)/|db/profile\.h) ^(sqlite3|json|linux/)
analysis/culprit ^((analysis/(insn|image|graph|machine|frequency|culprit)|lib)/|db/profile\.h) ^(sqlite3|json|linux/)
analysis/statistics ^(analysis/statistics|lib)/ ^(sqlite3|json|linux/)
instrument    ^(instrument|analysis|lib|db/profile\.h|db/profile_write\.h) ^(sqlite3|json)
instrument/elf ^(instrument/(elf)/|analysis|lib|db/profile\.h|db/profile_write\.h) ^(sqlite3|json)
instrument/codegen ^(instrument/(codegen)/|analysis|lib|db/profile\.h|db/profile_write\.h) ^(sqlite3|json)
instrument/profile ^(instrument/(profile)/|analysis|lib|db/profile\.h|db/profile_write\.h) ^(sqlite3|json)
instrument/mode ^(instrument/(codegen|profile|mode)/|analysis|lib|db/profile\.h|db/profile_write\.h) ^(sqlite3|json)
instrument/clone ^(instrument/(elf|codegen|profile|mode|clone)/|analysis|lib|db/profile\.h|db/profile_write\.h) ^(sqlite3|json)
instrument/counts ^(instrument/(profile|codegen|mode|counts)/|analysis|lib|db/profile\.h|db/profile_write\.h) ^(sqlite3|json)
instrument/paths ^(instrument/(profile|codegen|mode|clone|counts|paths)/|analysis|lib|db/profile\.h|db/profile_write\.h) ^(sqlite3|json)
instrument/calls ^(instrument/(profile|codegen|mode|clone|calls)/|analysis|lib|db/profile\.h|db/profile_write\.h) ^(sqlite3|json)
instrument/flow ^(instrument/(profile|codegen|mode|clone|counts|paths|calls|flow)/|analysis|lib|db/profile\.h|db/profile_write\.h) ^(sqlite3|json)
instrument/variation ^(instrument/(profile|codegen|mode|clone|counts|paths|variation)/|analysis|lib|db/profile\.h|db/profile_write\.h) ^(sqlite3|json)
instrument/bursts ^(instrument/(profile|codegen|mode|bursts)/|analysis|lib|db/profile\.h|db/profile_write\.h) ^(sqlite3|json)
instrument/runtime ^(instrument/(profile/profile_layout|calls/call_layout|bursts/burst_layout|paths/paths_trace|variation/variation_layout|runtime/[a-z_]+)\.h|lib/system_call\.h) ^(?!linux/)
ship          ^(ship/|lib/|db/profile\.h|db/profile_(read|write)\.h|db/ship_state\.h|daemon/base/log\.h) ^(sqlite3|json|elfutils|gelf|libelf|linux/)
tools         ^(tools|analysis|lib|instrument/(profile|paths|calls|flow|bursts|variation)/|db/profile\.h|db/profile_read\.h) ^(sqlite3|elfutils|gelf|libelf|linux/)
tools/base ^(tools/(base)/|analysis|lib|db/profile\.h|db/profile_read\.h) ^(sqlite3|elfutils|gelf|libelf|linux/)
tools/report ^(tools/(base|report)/|analysis|lib|db/profile\.h|db/profile_read\.h) ^(sqlite3|elfutils|gelf|libelf|linux/)
tools/tally ^(tools/(base|report|tally)/|analysis|lib|db/profile\.h|db/profile_read\.h) ^(sqlite3|elfutils|gelf|libelf|linux/)
tools/stacks ^(tools/(base|report|stacks)/|analysis|lib|db/profile\.h|db/profile_read\.h) ^(sqlite3|elfutils|gelf|libelf|linux/)
tools/calls ^(tools/(base|report|calls)/|instrument/(calls|paths|flow)/|analysis|lib) ^(sqlite3|elfutils|gelf|libelf|linux/)
tools/variation ^(tools/(base|report|variation)/|instrument/(profile|paths|variation)/|analysis|lib) ^(sqlite3|elfutils|gelf|libelf|linux/)
tools/annotate ^(tools/(base|report|annotate|stacks)/|analysis|lib|db/profile\.h|db/profile_read\.h) ^(sqlite3|elfutils|gelf|libelf|linux/)
tools/flow ^(tools/(base|report|annotate|flow)/|analysis|lib|db/profile\.h|db/profile_read\.h) ^(sqlite3|elfutils|gelf|libelf|linux/)
tools/list ^(tools/(base|report|tally|annotate|list)/|analysis|lib|db/profile\.h|db/profile_read\.h) ^(sqlite3|elfutils|gelf|libelf|linux/)
tools/opt ^(tools/(base|report|annotate|opt)/|analysis|lib|db/profile\.h|db/profile_read\.h) ^(sqlite3|elfutils|gelf|libelf|linux/)
tools/stats ^(tools/(base|report|tally|annotate|stats)/|analysis|lib|db/profile\.h|db/profile_read\.h) ^(sqlite3|elfutils|gelf|libelf|linux/)
tools/export ^(tools/(base|report|tally|annotate|calls|stacks|variation|export)/|instrument/(calls|variation)/|analysis|lib|db/profile\.h|db/profile_read\.h) ^(sqlite3|elfutils|gelf|libelf|linux/)
tools/page ^(tools/(base|report|tally|annotate|list|stacks|stats|page)/|analysis|lib|db/profile\.h|db/profile_read\.h) ^(sqlite3|elfutils|gelf|libelf|linux/)
tools/web ^(tools/(base|report|tally|page/page_html\.h$|web)|analysis|lib|db/profile\.h|db/profile_read\.h) ^(sqlite3|elfutils|gelf|libelf|linux/)
tools/top ^(tools/(base|report|annotate|top)/|analysis|lib|db/profile\.h|db/profile_read\.h) ^(sqlite3|elfutils|gelf|libelf|linux/)
'

check_folder()
{
	local folder=$1 own=$2 banned=$3 files bad

	files=$(git ls-files -co --exclude-standard -- "$folder/*.c" "$folder/*.h")
	if [ -z "$files" ]; then
		return
	fi
	# shellcheck disable=SC2086
	bad=$(grep -nHoP '^\s*#\s*include\s*"\K[^"]+' $files | grep -vP ":\d+:$own")
	# shellcheck disable=SC2086
	bad="$bad$(grep -nHoP '^\s*#\s*include\s*<\K[^>]+' $files | grep -P ":\d+:${banned#^}")"
	if [ -z "$bad" ]; then
		ok "$folder includes only what it may"
	else
		not_ok "$folder includes only what it may" "$bad"
	fi
}

# The parts of the table: purpose, libraries, and parts and services that they must not depend on.
# The parts and headers that they may include come from the rules.
# shellcheck disable=SC2016 # backquotes of Markdown
parts='
kmod/uapi|interface of module and user space||everything else
kmod/core|sample store and branch interpreter||allocation, locks, logging, files
kmod|the kernel module|the kernel; its version in `kmod/compat/` only|user space
lib|services of all parts|libxxhash|every other part
loader-hook|reports which file is mapped where|libelf, libbpf|the database
daemon|from samples to the database|libpfm4, libbpf, libzstd; json-c in `dcpictl`|analysis, tools
db|the profile database|SQLite (nowhere else), zlib|ELF, kernel
analysis|counts and causes from samples|elfutils, compression; Zydis and Capstone in `insn/`; liblbfgs and SuiteSparse in `frequency/`|SQLite, kernel, daemon
instrument|programs that record their execution||SQLite, kernel, daemon
ship|delivery of profiles to other systems, and reading them back|libcurl, zlib|SQLite, kernel, analysis
tools|the reports|json-c; ncurses in `top/`; libmicrohttpd in `web/`|kmod, daemon
'

# quoted LIST: print lines as ", `LINE`"
quoted()
{
	local line

	while read -r line; do
		# shellcheck disable=SC2016 # backquotes of Markdown
		printf ', `%s`' "$line"
	done <<< "$1"
}

# allowed PART OWN: print the folders and headers of other parts that match the part's rule
allowed()
{
	local part=$1 own=$2 group headers matching list=

	case $part in
	kmod/uapi) printf '%s' "\`<linux/types.h>\`, \`<linux/ioctl.h>\`" && return ;;
	kmod/core) printf '%s' "\`kmod/uapi/\`, \`core_env.h\`" && return ;;
	kmod) printf '%s' "\`kmod/core/\`, \`kmod/uapi/\`" && return ;;
	esac
	for group in kmod/uapi kmod/core lib loader-hook daemon db analysis instrument ship tools; do
		[ "$group" = "$part" ] && continue
		headers=$(git ls-files -- "$group/*.h")
		matching=$(grep -P "^$own" <<< "$headers")
		if [ "$matching" = "$headers" ]; then
			list+=", \`$group/\`"
		elif [ -n "$matching" ] && [ "$(wc -l <<< "$matching")" -le 8 ]; then
			list+=$(quoted "$matching")
		elif [ -n "$matching" ]; then
			list+=$(quoted "$(grep -o '.*/' <<< "$matching" | sort -u)")
		fi
	done
	printf '%s' "${list#, }"
}

print_table()
{
	local part purpose libraries without own

	echo '| part | purpose | may include | libraries | must not depend on |'
	echo '|---|---|---|---|---|'
	while IFS='|' read -r part purpose libraries without; do
		[ -n "$part" ] || continue
		own=$(awk -v part="$part" '$1 == part { sub(/^\^/, "", $2); print $2; exit }' <<< "$rules")
		echo "| \`$part/\` | $purpose | $(allowed "$part" "$own") | $libraries | $without |"
	done <<< "$parts"
}

if [ "${1:-}" = --table ]; then
	print_table
	exit 0
fi
is "CONTRIBUTING.md has the table of parts" "$(sed -n '/^| part /,/^$/p' CONTRIBUTING.md)" \
	"$(print_table)"

while read -r folder own banned; do
	[ -n "$folder" ] && check_folder "$folder" "$(printf '%s' "${own#^}")" "$banned"
done <<< "$rules"

# Kernel versions are tested in one place only.
bad=$(grep -rnE 'LINUX_VERSION_CODE|KERNEL_VERSION\(' kmod --include='*.[ch]' | grep -v '^kmod/compat/')
is "kernel version checks only in kmod/compat" "$bad" ""

bad=$(grep -rLE 'SPDX-License-Identifier: GPL-2.0-only' --include='*.[ch]' --include='*.sh' \
	--include='module.mk' kmod lib db daemon loader-hook analysis instrument ship tools tests packaging docs 2>/dev/null)
is "every source names its licence" "$bad" ""

bad=$(grep -LE '^# run: (alone|parallel)$' tests/cli/*.sh tests/hostile/*.sh)
is "every script of a test states whether it runs alone" "$bad" ""

# Each header can be included first: it includes everything that it needs. The headers of the module
# are for the kernel, those of tests/qemu for its programs. If a header's own source includes it
# first, the build is the test.
#
# is_first HEADER: return true if its source includes it before any other
is_first()
{
	[ -e "${1%.h}.c" ] &&
		[ "$(grep -m 1 '^#include' "${1%.h}.c")" = "#include \"$1\"" ]
}

bad=
for header in $(git ls-files -co --exclude-standard -- '*.h' | grep -vE '^kmod/(compat/)?[a-z_]+\.h$|core_env\.h$'); do
	is_first "$header" && continue
	bad=$bad$("${CC:-gcc}" -std=gnu17 -Wall -Wextra -Werror -Wno-unused-const-variable \
		-Wno-unused-variable -D_GNU_SOURCE -DDCPI_VERSION='""' -I. -fsyntax-only -x c \
		-include "$header" /dev/null 2>&1)
done
is "every header stands by itself" "$bad" ""

tap_done

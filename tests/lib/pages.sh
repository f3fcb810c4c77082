# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Pages for the tests of dcpireport. Source it after tests/lib/tool_cli.sh, which sets $bin, $helpers and
# $scratch.

# make_pages: make these pages in $scratch:
# - list.html: two epochs that are compared
# - timed.html: slices
# - hostile.html: names, labels and sources that are markup, scripts, right-to-left text and very long
# - idle.html: the idle kernel has most samples
make_pages()
{
	tests/fixtures/calc_fixtures.sh "$scratch" || return
	. tests/lib/calc_db.sh
	both_pages | make_db both || return
	timed_pages | make_db timed || return
	hostile_program || return
	hostile_db | make_db hostile || return
	idle_pages | make_db idle || return
	"$bin/dcpireport" --db "$scratch/both.db" --diff 1 2 -o "$scratch/list.html" &&
		"$bin/dcpireport" --db "$scratch/timed.db" -o "$scratch/timed.html" &&
		"$bin/dcpireport" --db "$scratch/idle.db" -o "$scratch/idle.html" &&
		"$bin/dcpireport" --db "$scratch/hostile.db" -o "$scratch/hostile.html"
}

# The list of tests/lib/calc_db.sh in two epochs; the second one has another program, too.
both_pages()
{
	echo "label before"
	list_db | sed -n '1,/^end/p'
	echo "event cpu-clock ns 195000 205000"
	echo "label after"
	echo "epoch Some CPU"
	echo "image file $list_id $scratch/list"
	printf 'sample 0 0x%x %d\n' 0x1005 50 0x1008 4000 0x1024 2000
	echo "image file $chain_id $scratch/chain"
	printf 'sample 0 0x%x %d\n' 0x1005 3000 0x1009 500
	echo "process 4711"
	echo "sample 0 0x1005 3000"
	echo end
}

# An epoch of an hour with slices of 10 seconds, except for ten minutes. There are too many for a column
# each, so that columns are of 20 seconds. Counts change with time, and imiss is scaled.
timed_pages()
{
	echo "event cpu-clock ns 195000 205000"
	echo "event imiss events 4096 4096 1000 300"
	echo "epoch Some CPU"
	for ((i = 0; i < 300; i++)); do
		echo "slice $((i * 10 + (i >= 60) * 600)) 10"
		echo "image file $list_id $scratch/list"
		printf 'sample 0 0x%x %d\n' 0x1005 $((i % 7 * 3)) 0x1008 $((i < 120 ? 90 : 10)) 0x1024 $((i / 4))
		echo "sample 1 0x1008 $((i % 5))"
		echo "image file $chain_id $scratch/chain"
		printf 'sample 0 0x%x %d\n' 0x1005 $((i < 120 ? 3 : 70)) 0x1009 $((i % 3))
		echo "image kernel - vmlinux"
		echo "sample 0 0x1000 $((i == 100 ? 500 : 1))"
		echo "loss buffer_full $((i % 2))"
	done | awk '!/ 0$/' # counts of zero
	echo end
}

# The idle kernel has most samples, and the daemon more of imiss than all have of the clock.
idle_pages()
{
	echo "event cpu-clock ns 195000 205000"
	echo "event imiss events 4096 4096"
	echo "epoch Some CPU"
	list_samples
	echo "image kernel - vmlinux-6"
	echo "symbols default_idle schedule"
	# Both are loops of nop; that of default_idle ends with sti and hlt.
	echo "code 0 9090909090909090909090909090fbf4ebee"
	echo "code 1000 90909090909090909090909090909090ebee"
	printf 'sample 0 0x%x %d\n' 0x10 40000 0x1010 500
	echo "sample 1 0x1010 3"
	echo "image file - /usr/sbin/dcpid"
	echo "sample 0 0x10 100"
	echo "sample 1 0x10 90000"
	echo end
}

# Text that would run, if any of it became markup.
hostile_text='<img src=x onerror="document.title=1"></script><script>window.owned=1</script>'
hostile_id=0303030303030303030303030303030303030303

# hostile_program: compile $scratch/hostile with hostile names of procedures and source lines
hostile_program()
{
	local name

	name=$(printf '%s\u202egnp.exe\u2066"&lt;' "$hostile_text")
	{
		echo 'int hot(int n) {'
		echo "/* $hostile_text */ int sum = 0;"
		printf '/* \u202e right to left, \001 and \033[31m control characters */\n'
		printf 'for (int i = 0; i < n; i++) /* %s */\n' "$(head -c 1000000 /dev/zero | tr '\0' 'x')"
		echo 'sum += i * n; return sum; }'
		echo 'int main(void) { return hot(3); }'
	} > "$scratch/hostile.c"
	gcc -O1 -g -fno-inline -Wl,--build-id=0x$hostile_id -no-pie -o "$scratch/hostile" \
		"$scratch/hostile.c" 2> "$scratch/hostile.log" || return
	hostile_offset=$(nm "$scratch/hostile" | awk '$3 == "hot" { print $1 }') || return
	objcopy --redefine-sym hot="$name" "$scratch/hostile"
}

hostile_db()
{
	# Programs begin at 0x400000, and their file at 0.
	local at=$((0x$hostile_offset - 0x400000))

	echo "event cycles cycles 60000 64000"
	printf 'label %.60s\n' "$hostile_text"
	echo "epoch <b onclick=alert(1)>CPU</b>"
	echo "slice 0 10"
	echo "image file $hostile_id $scratch/hostile"
	printf 'sample 0 %d %d\n' $((at + 9)) 500 $((at + 12)) 900
	printf 'image jit - %s\n' "$hostile_text"
	echo "symbols javascript:alert(1)"
	echo "sample 0 0x10 300"
	echo "slice 10 10"
	echo "sample 0 0x10 40"
	echo end
}

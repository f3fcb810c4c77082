# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Databases of the programs of tests/fixtures/calc_fixtures.sh, for tests of tools that read code. Source it
# after tests/lib/tool_cli.sh, which sets $scratch, the folder of the programs, and $helpers.
copy_id=00112233445566778899aabbccddeeff00112233
chain_id=0a0b0c0d0e0f101112131415161718191a1b1c1d
list_id=0102030405060708090a0b0c0d0e0f1011121314

# make_db NAME < LINES: make a database, see tests/fixtures/make_profile_db.c
make_db()
{
	rm -f "$scratch/$1.db"
	"$helpers/make_profile_db" "$scratch/$1.db"
}

# The copy loop: samples of the paper's Figure 2.
figure_2()
{
	printf 'sample 0 0x%x %d\n' 0x9810 3126 0x9818 1636 0x981c 390 0x9820 1482 0x9828 27766 \
		0x9830 1493 0x9834 174727 0x9838 1548 0x9840 1586
}

copy_db()
{
	echo "event cycles cycles 60000 64000"
	echo "epoch Alpha 21164"
	echo "image file $copy_id $scratch/copy"
	figure_2
	echo end
}

# An x86-64 program in two epochs, sampled by a clock.
list_samples()
{
	echo "image file $list_id $scratch/list"
	printf 'sample 0 0x%x %d\n' 0x1005 50 0x1008 9000 0x100b 60 0x1016 30 0x1000 5 0x1027 20 \
		0x1021 10 0x1024 1000
}

list_db()
{
	echo "event cpu-clock ns 195000 205000"
	echo "event imiss events 4096 4096"
	echo "counter stat core_clock_min_khz 2900000"
	echo "counter stat core_clock_max_khz 3100000"
	echo "counter stat edges_handed 100"
	echo "epoch Some CPU"
	list_samples
	printf 'branch 0x100e 0x%x %d\n' 0x1005 95 0x1010 5
	echo end
	echo "event cpu-clock ns 195000 205000 1000 500"
	echo "epoch Some CPU"
	list_samples
	echo "image kernel - vmlinux"
	echo "sample 0 0x1000 7"
	echo "image jit - [jit]"
	echo "sample 0 0x10 3"
	echo end
}

# Sampled by the clock of an x86-64 machine, which hits the instruction after a slow one.
chain_db()
{
	echo "event cycles cycles 60000 64000"
	echo "epoch Some CPU"
	echo "image file $chain_id $scratch/chain"
	printf 'sample 0 0x%x %d\n' 0x1002 20 0x1005 6400 0x1009 900 0x100c 300 0x1013 90
	echo end
}

# The same work twice: the second time with four times the period, and a quarter of the samples.
# Each epoch has an image or procedure that the other one lacks.
periods_db()
{
	echo "event cycles cycles 1000 1000"
	echo "epoch Some CPU"
	list_samples | sed -n '1p;/0x1008/p'
	echo end
	echo "event cycles cycles 4000 4000"
	echo "epoch Some CPU"
	echo "image file $chain_id $scratch/chain"
	echo "sample 0 0x1005 2250"
	echo end
}

# Both programs, and two events, each in a separate epoch.
both_db()
{
	copy_db | sed 's/^epoch/event imiss events 4096 4096\n&/; s/^end/sample 1 0x9828 40\n&/'
	list_db | sed -n '1,/^end/p' | sed 's/cpu-clock ns 195000 205000/cycles cycles 60000 64000/
		s/^end/sample 1 0x1008 70\nsample 1 0x1021 5\n&/'
}

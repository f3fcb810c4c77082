# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Test that samples are at the instructions that ran. In the machine that counts instructions, each
# instruction takes one cycle. So an instruction's samples, through interrupt, module, daemon,
# database and SQL, must be in proportion to its execution count. These counts are exact, taken on
# the host (tests/eval/truth/count_plugin.c) for the same run of the same program: lines "OFFSET COUNT"
# in /lib/placement.counts.
#
# The deviation is tested with chi-square over all instructions with at least five expected samples
# (the rest form one more class), as a normal deviate (Wilson and Hilferty). A deviate above 4
# happens by chance once in 30,000. The machine repeats its runs exactly, so the result is the same
# each time.
# shellcheck source=tests/lib/tap.sh
. /lib/tap.sh
# shellcheck source=tests/qemu/profile.sh
. /lib/profile.sh

# deviate FILE: lines "NAME COUNT SAMPLES" (busybox's awk has no power function)
deviate()
{
	awk '
	{ count[NR] = $2; got[NR] = $3; counts += $2; samples += $3 }
	END {
		for (i = 1; i <= NR; i++) {
			e = samples * count[i] / counts
			if (e < 5) {
				rest_e += e
				rest += got[i]
			} else {
				chi += (got[i] - e) * (got[i] - e) / e
				classes++
			}
		}
		if (rest_e >= 5) {
			chi += (rest - rest_e) * (rest - rest_e) / rest_e
			classes++
		}
		print chi, classes - 1, samples
	}' "$1" | while read -r chi df samples; do
		sqlite3 :memory: "SELECT printf('%.2f (chi-square %.1f, %d degrees of freedom, %d samples)',
			(pow($chi / $df, 1.0 / 3) - (1 - 2.0 / (9 * $df))) / sqrt(2.0 / (9 * $df)),
			$chi, $df, $samples)"
	done
}

fits()
{
	got=$(deviate "$2")
	if echo "$got" | awk '{ exit !($1 ~ /^-?[0-9]/ && $1 < 4) }'; then
		ok "$1: $got"
	else
		not_ok "$1" "$got"
	fi
}

pmu_unlimited
insmod /lib/dcpi.ko
daemon_start --source kmod -e cycles:9600-10400
is "the daemon starts" $? 0
placement "$(cat /lib/placement.rounds)"
daemon_stop
is "the daemon ends with 0" $? 0
accounted ""

query "SELECT printf('%x', offset), sum(count) FROM dcpi_samples
	WHERE path = '/bin/placement' GROUP BY offset" | tr '|' ' ' >/tmp/samples
awk 'NR == FNR { got[$1] = $2; next } { print $1, $2, got[$1] + 0 }' /tmp/samples \
	/lib/placement.counts >/tmp/compared
is "no sample where no instruction ran" "$(awk '
	NR == FNR { ran[$1] = $2 > 0; next }
	!ran[$1] { lost += $2 }
	END { print lost + 0 }' /lib/placement.counts /tmp/samples)" 0
fits "samples of instructions are in proportion to their executions" /tmp/compared

# The same by procedure, as dcpiprof reports them.
dcpiprof --db "$db" --csv --image '*/placement' | awk -F, '$4 ~ /^hot_/ { print $4, $1 }' >/tmp/reported
awk 'NR == FNR { got[$1] = $2; next } { print $1, $2, got[$1] + 0 }' /tmp/reported \
	/lib/placement.procedures >/tmp/compared
fits "so are those of procedures in the report" /tmp/compared
# The test must detect misplaced samples: move a tenth of the largest procedure's samples to another
# procedure. Moving 900 of 9,000 samples gives a deviate of at least 8, plus or minus 1 by chance.
# Moving 250 of 2,500 gives 4, which may not suffice in a run of another build (another sequence
# of interrupts).
sort -k3,3nr /tmp/compared |
	awk 'NR == 1 { moved = int($3 / 10); $3 -= moved } NR == 2 { $3 += moved } { print }' \
	>/tmp/spoilt
like "a tenth in the wrong place is noticed" "$(deviate /tmp/spoilt)" '^([4-9]|[0-9]{2,})'
check "the module unloads" rmmod dcpi
dcpiprof --db "$db" -n 8 | sed 's/^/# /'
tap_done

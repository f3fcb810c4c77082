# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Test that sampled edges are those that programs take, through interrupt, module, daemon, database
# and SQL. The reference are the exact edges of the same programs, counted on the host
# (tests/eval/truth/edge_counts.h) and stored in /lib/NAME.edges: lines "KIND FROM TO COUNT WEIGHT" of
# the program's own image. In the machine that counts instructions, each instruction takes one
# cycle, so samples are uniform over instructions, and the edges of a branch must be in proportion
# to their weights. A machine without a PMU (x86-64) samples by clock, which is not uniform over
# instructions: only the directions of branches are tested there.
#
# Figures are printed in lines "# {...}", in the format of tests/eval/bench/bench.h.
# shellcheck source=tests/lib/tap.sh
. /lib/tap.sh
# shellcheck source=tests/qemu/profile.sh
. /lib/profile.sh

if [ "$(uname -m)" = aarch64 ]; then
	event=cycles:u:2000-2400 enough=50000
else
	event=cpu-clock:u:95000-105000 enough=500
fi

now_ns()
{
	awk '/^now at/ { print $3; exit }' /proc/timer_list
}

counter()
{
	query "SELECT coalesce(sum(count), 0) FROM counter WHERE counter_group = 'stat' AND name = '$1'"
}

figure()
{
	printf '# {"name": "%s", "subject": "kmod", "workload": "%s", "value": %s, "unit": "%s"}\n' "$@"
}

work()
{
	case $1 in
	branches) branches "$(cat /lib/branches.rounds)" ;;
	busybox-truth)
		env -i /bin/busybox-truth sort </lib/edges.input
		env -i /bin/busybox-truth gzip </lib/edges.input
		;;
	esac >/dev/null
}

# tried: print the number of samples so far from which an edge was sought
tried()
{
	dcpictl --socket "$dcpid_socket" stats | awk '$1 == "stat.branches_tried" { print $2 }'
}

# again PROGRAM OPTION...: repeat the work until there are enough samples to judge by. Sampling by
# clock yields few in a machine that a busy host rarely runs, and edges of the daemon do not count.
again()
{
	case $(uname -m),$* in
	aarch64,* | *,"$1") return ;;
	esac
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ "$(tried)" -lt $((4 * enough)) ] || return
		work "$1"
	done
}

# profile PROGRAM OPTION...: run PROGRAM under the daemon, and set $elapsed to the ns of the work
profile()
{
	program=$1
	shift
	daemon_start --source kmod -e "$event" "$@" || not_ok "the daemon starts"
	begin=$(now_ns)
	work "$program"
	elapsed=$(($(now_ns) - begin))
	again "$program" "$@"
	daemon_stop || not_ok "the daemon ends with 0"
}

# edges PROGRAM KIND: print "FROM TO COUNT" of the edges within the program's image
edges()
{
	query "SELECT printf('%x', from_offset), printf('%x', to_offset), sum(count) FROM dcpi_edges
		WHERE path = '/bin/$1' AND to_path = path AND kind = '$2'
		GROUP BY from_offset, to_offset" | tr '|' ' '
}

# directions PROGRAM FILE: print "RIGHT TOTAL STRANGE"; write wrong edges to /tmp/wrong. STRANGE
# edges are not in the reference and cannot be judged by it: they come from branches that the
# reference executed less than 100 times. User-mode QEMU has no vDSO for a program to set up at its
# start, and lists of loaded files are shorter there.
directions()
{
	: >/tmp/wrong
	awk 'NR == FNR { if ($4 > 0) { happened[$2 " " $3] = 1; ran[$2] += $4 }; next }
		($1 " " $2) in happened { right += $3; total += $3; next }
		{ print >"/tmp/wrong" }
		ran[$1] < 100 { strange += $3; next }
		{ total += $3 }
		END { print right + 0, total + 0, strange + 0 }' "/lib/$1.edges" "$2"
}

# deviate PROGRAM KIND FILE: chi-square of the directions that the branches of a kind took, as a
# normal deviate (see placement.sh). For each branch, directions with fewer than five expected
# samples form one class.
deviate()
{
	awk -v kind="$2" '
	NR == FNR {
		if ($1 == kind && $5 > 0) {
			way[++ways] = $2 " " $3
			from[ways] = $2
			weight[ways] = $5
			weights[$2] += $5
		}
		next
	}
	{ got[$1 " " $2] = $3; gots[$1] += $3 }
	END {
		for (i = 1; i <= ways; i++) {
			at = from[i]
			e = gots[at] * weight[i] / weights[at]
			if (e < 5) {
				rest_e[at] += e
				rest[at] += got[way[i]]
			} else {
				chi += (got[way[i]] - e) * (got[way[i]] - e) / e
				classes[at]++
			}
		}
		for (at in gots) {
			if (rest_e[at] >= 5) {
				chi += (rest[at] - rest_e[at]) * (rest[at] - rest_e[at]) / rest_e[at]
				classes[at]++
			}
			if (classes[at] > 1) {
				df += classes[at] - 1
				branches++
			}
		}
		print chi + 0, df + 0, branches + 0
	}' "/lib/$1.edges" "$3" | while read -r chi df branches; do
		[ "$df" -gt 0 ] || continue
		sqlite3 :memory: "SELECT printf('%.2f (chi-square %.1f, %d degrees of freedom, %d branches)',
			(pow($chi / $df, 1.0 / 3) - (1 - 2.0 / (9 * $df))) / sqrt(2.0 / (9 * $df)),
			$chi, $df, $branches)"
	done
}

fits()
{
	if echo "$2" | awk '{ exit !($1 ~ /^-?[0-9]/ && $1 < 4) }'; then
		ok "$1: $2"
	else
		not_ok "$1" "$2"
	fi
}

# at_least NAME GOT OF THOUSANDTHS FEWEST: test that GOT is at least THOUSANDTHS / 1000 of OF, and
# that OF is at least FEWEST
at_least()
{
	if [ "$3" -ge "$5" ] && [ $(($2 * 1000)) -ge $(($3 * $4)) ]; then
		ok "$1 ($2 of $3)"
	else
		not_ok "$1" "$2 of $3"
	fi
}

# share A B: print A / B
share()
{
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.5f", (b > 0 ? a / b : 0) }'
}

edge_tests()
{
	profile "$1"
	plain=$elapsed
	profile "$1" --branch-every 1
	tried=$(counter branches_tried)
	found=$(counter edges)
	edges "$1" branch >/tmp/edges
	# shellcheck disable=SC2046 # three numbers
	set -- "$1" $(directions "$1" /tmp/edges)
	sed 's/^/# never happened: /' /tmp/wrong
	at_least "$1: edges that happen" "$2" "$3" 999 $((enough * 9 / 10))
	at_least "$1: edges of code that the truth knows" "$3" $(($3 + $4)) 990 0
	at_least "$1: samples that yield an edge" "$found" "$tried" 700 "$enough"
	is "$1: none is lost, all are handed over" \
		"$(counter edges_lost) $(counter edges_handed)" "0 $found"
	is "$1: all that are known are in the database" \
		"$(query "SELECT sum(count) FROM dcpi_edges")" \
		"$((found - $(counter edges_unknown)))"
	figure edge_right "$1" "$(share "$2" "$3")" share
	figure edge_yield "$1" "$(share "$found" "$tried")" share
	[ "$(uname -m)" != aarch64 ] ||
		figure edge_cost "$1" "$(share $((elapsed - plain)) "$tried")" instructions
}

# reached FILE REACH: print "COUNTED TOTAL" for a file of pairs "FROM TO COUNT". COUNTED are the
# pairs whose end is at most REACH executed instructions after their beginning.
reached()
{
	awk -v reach="$2" '
	function number(text, i, value) {
		for (i = 1; i <= length(text); i++)
			value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
		return value
	}
	FILENAME == ARGV[1] {
		if ($4 > 0) {
			from = number($2)
			to[from, ++ways[from]] = number($3)
		}
		next
	}
	{
		total += $3
		wanted[number($1)] = wanted[number($1)] " " number($2) ":" $3
	}
	# Breadth-first search; one step is one instruction of four bytes.
	END {
		for (start in wanted) {
			split("", distance)
			queue[1] = start
			distance[start] = 0
			last = 1
			for (first = 1; first <= last; first++) {
				at = queue[first] + 0
				if (distance[at] >= reach)
					continue
				n = ways[at] > 0 ? ways[at] : 1
				for (i = 1; i <= n; i++) {
					then = ways[at] > 0 ? to[at, i] : at + 4
					if (!(then in distance)) {
						distance[then] = distance[at] + 1
						queue[++last] = then
					}
				}
			}
			n = split(wanted[start], pair, " ")
			for (i = 1; i <= n; i++) {
				split(pair[i], part, ":")
				if ((part[1] + 0) in distance)
					right += part[2]
			}
		}
		print right + 0, total + 0
	}' /lib/branches.edges "$1"
}

double_tests()
{
	double_period=$1
	profile branches --double-every 2 --double-period "$double_period"
	edges branches double >/tmp/pairs
	# shellcheck disable=SC2046 # two numbers
	set -- $(reached /tmp/pairs "$double_period")
	at_least "double samples: their end is within $double_period instructions" "$1" "$2" 1000 5000
	figure double_right branches "$(share "$1" "$2")" share
	# The test can fail: not every address is within reach of every other one.
	# shellcheck disable=SC2046
	set -- $(reached /tmp/pairs $((double_period / 4)))
	check "double samples: a quarter of the way is too short" [ $(($1 * 10)) -lt $(($2 * 9)) ]
	echo "# within $((double_period / 4)) instructions: $1 of $2"
}

proportion_tests()
{
	for kind in conditional indirect; do
		fits "branches: $kind branches go each way as often as they should" \
			"$(deviate branches $kind /tmp/edges)"
	done
	# The test must detect a wrong direction: change a tenth of the edges of one frequent
	# branch.
	sort -k 3nr /tmp/edges | awk '
		NR == FNR { if ($1 == "conditional") other[$2] = other[$2] " " $3; next }
		!done && ($1 in other) {
			n = split(other[$1], way, " ")
			to = way[1] == $2 ? way[2] : way[1]
			if (n == 2) { done = 1; moved = int($3 / 10); print $1, $2, $3 - moved; turned = $1 " " to; next }
		}
		($1 " " $2) == turned { print $1, $2, $3 + moved; next }
		{ print }' /lib/branches.edges - >/tmp/spoilt
	like "a tenth of a branch gone the other way is noticed" \
		"$(deviate branches conditional /tmp/spoilt)" '^([4-9]|[0-9]{2,})'
}

pmu_unlimited
insmod /lib/dcpi.ko
edge_tests branches
like "the report lists them" "$(dcpiprof --db "$db" --by edge -n 5)" '^ *[0-9]+ +branch +hot_'
if [ "$(uname -m)" = aarch64 ]; then
	proportion_tests
	double_tests 32
fi
edge_tests busybox-truth
[ "$(uname -m)" != aarch64 ] ||
	echo "# busybox-truth, deviate: $(deviate busybox-truth conditional /tmp/edges)"
check "the module unloads" rmmod dcpi
tap_done

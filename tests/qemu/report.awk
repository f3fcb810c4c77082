# SPDX-License-Identifier: GPL-2.0-only
#
# Make one TAP stream from a test machine's console. The stream contains the tests of all scripts,
# renumbered. For each script, one test checks that it kept its plan and exited with 0. Two more
# tests check that the kernel's log is clean and that the machine shut down. The exit status is 1 if
# any test failed.
#
# -v scripts="a b": the scripts that must have run.

function result(good, name) {
	printf "%s %d - %s\n", good ? "ok" : "not ok", ++number, name
	failed += !good
}

# Print why a script's plan was not kept: the tests seen, and the other lines on the console
# meanwhile (the kernel may write into the middle of a script's line).
function explain(name) {
	print "#   planned " (name in plan ? plan[name] : "nothing") ", saw " count[name] + 0 \
		(name in disorder ? ", first out of order: " disorder[name] : "") \
		", status " (name in status ? status[name] : "none")
	if (name in stray)
		printf "%s", stray[name]
}

function script_line(name, line, words) {
	if (line ~ /^(not )?ok [0-9]+/) {
		split(line, words, / /)
		count[name]++
		if ((words[1] == "ok" ? words[2] : words[3]) != count[name])
			disorder[name] = name in disorder ? disorder[name] : line
		sub(/^(not )?ok [0-9]+( - )?/, "", line)
		result(words[1] == "ok", name ": " line)
	} else if (line ~ /^1\.\.[0-9]+$/) {
		plan[name] = substr(line, 4)
	} else {
		print "# " name ": " line
	}
}

{ sub(/\r$/, "") }

/^@tap / {
	running = $2
	line = $0
	sub(/^@tap [^ ]+ /, "", line)
	script_line(running, line)
	next
}
/^@end / {
	status[$2] = $3
	running = ""
	print "# " $2 " ended after " $4 - ended " s of the machine's time"
	ended = $4
	next
}
/^@done$/ { done = 1; next }

!/^@/ && running && strays[running]++ < 20 {
	stray[running] = stray[running] "#   between its lines: " $0 "\n"
}

# Kernel messages to show on failure; the first few suffice.
/WARNING:|BUG:|Oops|Call Trace|[Gg]eneral protection|Kernel panic|INFO: (task|rcu)|INFO: possible|rcu.*stall|refcount_t:|suspicious RCU|use-after-free|corrupt|scheduling while atomic|soft lockup|unable to handle|UBSAN:|ODEBUG:|KASAN:|KCSAN:/ && !/debug is enabled/ {
	if (trouble++ < 20)
		print "# kernel: " $0
}

END {
	wanted = split(scripts, list, / +/)
	for (i = 1; i <= wanted; i++) {
		name = list[i]
		if (name == "")
			continue
		kept = count[name] > 0 && !(name in disorder) && plan[name] == count[name]
		kept = kept && status[name] == "0"
		result(kept, name ": ran its plan and ended with status 0")
		if (!kept)
			explain(name)
	}
	result(!trouble, "kernel log has no warnings")
	result(done, "machine came to its end")
	print "1.." number
	exit failed != 0
}

# SPDX-License-Identifier: GPL-2.0-only
#
# Summarize a dump of monitor_dump(): for each CPU its PCs, how often each was seen, and 16 bytes of
# memory there. For x86-64 also find out if the emulator is at fault. It executes overwritten code
# (still.c) if a CPU returns from the breakpoint handler to try again, and is soon in the handler
# again. Each time it comes from the same address in the kernel, where memory never holds a
# breakpoint. A CPU that is in the handler and does not return has another problem.
#
# The dump has "@ CPU NAME ..." and QEMU's answer for each question, and "@@ ..." between samples.
# -v frames=1: the input is QEMU's answer for a stack; print only the kernel addresses where its
# traps came from.
#
# Addresses are text of 16 digits, since numbers in awk are not large enough.

function digits(address) {
	sub(/^0x/, "", address)
	return address
}

function low(address, i, value) {
	for (i = 9; i <= 16; i++)
		value = value * 16 + index("0123456789abcdef", substr(address, i, 1)) - 1
	return value
}

# Distance from @other to @address, within the same 4 GiB; -1 if it is negative or larger
function behind(address, other) {
	if (substr(address, 1, 8) != substr(other, 1, 8) || low(address) < low(other))
		return -1
	return low(address) - low(other)
}

# Index of the next kernel trap frame on the CPU's stack: IP, CS, flags, SP, SS; or 0
function frame(i) {
	while (++i + 4 <= words)
		if (word[i] ~ /^ffffffff/ && word[i + 1] ~ /^0+10$/ && word[i + 4] ~ /^0+18$/)
			return i
	return 0
}

# A handler ends where the next one begins.
function in_int3(address, i, distance) {
	distance = behind(address, trap[3])
	if (distance < 0 || distance >= 256)
		return 0
	for (i = 0; i < traps; i++)
		if (behind(trap[i], trap[3]) > 0 && behind(address, trap[i]) >= 0)
			return 0
	return 1
}

# Return true if the trap frame belongs to the breakpoint handler. Either the handler has just
# begun, or it has called a function, whose return address is just below the saved registers.
function trapped(top) {
	return in_int3(pc) || top > 17 && in_int3(word[top - 17])
}

# Evaluate one CPU of one sample. The breakpoint handler's frame holds the address after the
# breakpoint. If memory has no breakpoint, the handler sets it to the breakpoint's address, to
# return there.
function judge(place, top, from, entered) {
	place = "CPU " cpu " at " pc (pc in text ? ": " text[pc] : "")
	if (seen[place]++ == 0)
		order[++places] = place
	entered = pc == trap[3] && cpu in last_pc && last_pc[cpu] != pc
	last_pc[cpu] = pc
	top = traps > 0 ? frame(0) : 0
	from = top > 0 ? word[top] : ""
	if (top == 0 || !trapped(top)) {
		outside[cpu, pc] = outside[cpu, from] = 1
		return
	}
	times[cpu]++
	if (!(cpu in at)) {
		at[cpu] = from
	} else if (behind(at[cpu], from) == 1) {
		after[cpu] = at[cpu]
		at[cpu] = from
	} else if (behind(from, at[cpu]) == 1) {
		after[cpu] = from
	} else if (from != at[cpu]) {
		moved[cpu] = 1
	}
	if (cpu in last && (entered || behind(from, last[cpu]) == 1))
		again[cpu] = 1
	last[cpu] = from
	if (!(from in text))
		moved[cpu] = 1
	if (text[from] ~ /^cc/)
		breakpoint_at[cpu, from] = 1
	if (before[from] == "cc")
		breakpoint_before[cpu, from] = 1
}

# For a CPU seen in the handler, return the address of the stale breakpoint that it executes, or ""
function stale(cpu, behind_it) {
	behind_it = cpu in after ? after[cpu] : at[cpu]
	if (times[cpu] < 3 || cpu in moved || !(cpu in again) && !((cpu, at[cpu]) in outside))
		return ""
	if ((cpu, at[cpu]) in breakpoint_at || (cpu, behind_it) in breakpoint_before)
		return ""
	return at[cpu]
}

function sample_end() {
	if (pc != "")
		judge()
	pc = ""
	words = 0
}

{ sub(/\r$/, "") }

frames {
	for (i = 2; i <= NF; i++)
		word[++words] = digits($i)
	next
}

/^@@/ { sample_end(); split("", text); next }

/^@/ {
	if ($3 == "registers")
		sample_end()
	cpu = $2
	section = $3
	place = $4
	bytes = 0
	next
}

section == "registers" && match($0, /(RIP|PC)=[0-9a-f]+/) {
	pc = substr($0, RSTART, RLENGTH)
	sub(/.*=/, "", pc)
}

section == "stack" {
	for (i = 2; i <= NF; i++)
		word[++words] = digits($i)
}

# 16 bytes before the address, and 16 bytes from it on
section == "code" && $2 ~ /^0x/ {
	for (i = 2; i <= NF; i++)
		if (++bytes == 16)
			before[place] = digits($i)
		else if (bytes > 16)
			text[place] = (bytes > 17 ? text[place] " " : "") digits($i)
}

section == "idt" && NF == 3 {
	$2 = digits($2)
	trap[traps++] = substr($3, 11, 8) substr($2, 1, 4) substr($2, 13, 4)
}

END {
	if (frames) {
		for (i = frame(0); i > 0; i = frame(i))
			print word[i]
		exit
	}
	sample_end()
	for (i = 1; i <= places; i++)
		print seen[order[i]] " x " order[i]
	for (cpu in times)
		if (stale(cpu) != "")
			print "emulator's fault: CPU " cpu " executes a breakpoint at " at[cpu] \
				", where there is none: seen " times[cpu] " times"
}

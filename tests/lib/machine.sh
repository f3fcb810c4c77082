# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC3043 # ash and dash have "local"
#
# machine_line: print the machine in one line, for generated documents. The kernel release is cut at
# its first dash, so that the name of a private build is not published.
machine_line()
{
	local cpu

	cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
	echo "- machine: ${cpu:-$(uname -m)}, $(nproc) CPUs, Linux $(uname -r | sed 's/-.*//')"
}

# machine_runs_32bit: return true if an x86-64 kernel executes 32-bit programs; some virtual
# machines do not
machine_runs_32bit()
{
	local folder status=1

	folder=$(mktemp -d) || return 1
	# shellcheck disable=SC2016 # assembly
	echo 'void _start(void) { __asm__ volatile("int $0x80" : : "a"(1), "b"(0)); for (;;) ; }' |
		${CC:-gcc} -m32 -O1 -nostdlib -static -fno-pie -no-pie -x c -o "$folder/program" - &&
		"$folder/program" 2> /dev/null && status=0
	rm -r "$folder"
	return $status
}

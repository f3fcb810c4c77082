# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC3043 # ash and dash have "local"
#
# machine_line: the machine in one line, for generated documents. The kernel release is
# cut at its first dash, so that the name of a private build is not published.
machine_line()
{
	local cpu

	cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
	echo "- machine: ${cpu:-$(uname -m)}, $(nproc) CPUs, Linux $(uname -r | sed 's/-.*//')"
}

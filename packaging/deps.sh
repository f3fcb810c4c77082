#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Print and install the missing Debian packages that goals of make need. Changes neither
# apt's sources nor dpkg's architectures. The Makefile calls this script for the goals of its
# command line.
#
#   packaging/deps.sh [--list] GOAL...    build, demo, check, ...: see below
#
# Goals that are not listed below need the packages of the build. --list prints the packages.
set -u

build='gcc make pkg-config libc6-dev libelf-dev libdw-dev libsqlite3-dev zlib1g-dev liblzma-dev
	libjson-c-dev libncurses-dev libxxhash-dev libpfm4-dev libbpf-dev libzydis-dev libcapstone-dev liblbfgs-dev libiberty-dev libsuitesparse-dev
	libzstd-dev libcurl4-openssl-dev libmicrohttpd-dev clang bpftool scdoc'
vm='qemu-system-x86 busybox-static cpio kmod linux-headers-amd64 zstd'
deb='debhelper dh-dkms dpkg-dev git lintian'
vm_arm64='qemu-system-arm qemu-user gcc-aarch64-linux-gnu'
check="$build $vm $vm_arm64 libcmocka-dev libc6-dev-arm64-cross sqlite3 xz-utils bzip2 perl git
	python3 python3-jsonschema graphviz libxml2-utils tmux valgrind binutils mandoc jq linux-perf
	binutils-alpha-linux-gnu g++ gcc-12-alpha-linux-gnu libc6.1-dev-alpha-cross llvm-14 llvm-14-dev
	lld bolt-19 strace procps shfmt musl-tools chromium chromium-driver firefox-esr openssl curl protobuf-compiler"

list=
if [ "${1:-}" = --list ]; then
	list=yes
	shift
fi
# packages GOAL: print the packages that a goal needs
packages()
{
	case $1 in
	clean | distclean | help | version | uninstall | deps-*) ;;
	demo) echo "$build sqlite3 xz-utils perl libc6-dbg" ;;
	demo-vm) echo "$build $vm sqlite3 xz-utils" ;;
	fresh | check-fresh) echo mmdebstrap git ;;
	bench-optimize | optimize-doc)
		echo "$build bolt-19 clang-19 lld-19 llvm-19 libclang-rt-19-dev valgrind linux-perf qemu-user
			zlib1g-dev dpkg-dev python3"
		;;
	bench | performance-doc | overhead-doc) echo "$check gawk lua5.4" ;;
	accuracy | truth | truth-* | x86-samples | accuracy-arm-*)
		echo "$build qemu-user python3 gcc-aarch64-linux-gnu libc6-dev-arm64-cross
			gcc-12-alpha-linux-gnu libc6.1-dev-alpha-cross g++ clang llvm-14-dev gzip bzip2 xz-utils
			zstd mawk gawk grep jq bc perl python3.11 lua5.4 sqlite3 openssl binutils sed tcl php-cli
			ghostscript m4 groff-base coreutils lz4 git linux-perf"
		;;
	accuracy-doc) echo "$build python3" ;;
	jump-tables)
		echo "$build libcmocka-dev qemu-user perl python3 sqlite3 gawk mawk lua5.3 bc bzip2 zstd
			xz-utils jq openssl binutils"
		;;
	node | check-node) echo "$build nodejs sqlite3 python3" ;;
	fleet) echo "$build clickhouse-server clickhouse-client zookeeper openjdk-17-jre-headless sqlite3 python3 jq binutils util-linux" ;;
	consumers | check-consumers)
		echo "$build gcc valgrind bolt-16 autofdo golang-go golang-github-google-pprof-dev"
		;;
	models | compare-models) echo "$build python3 llvm-14 libc6-dev-arm64-cross" ;;
	page) echo nodejs npm ;;
	lint | format)
		echo "$build libcmocka-dev clang-tidy clang-format cppcheck git mandoc shellcheck
			llvm-14-dev"
		;;
	dcpix-programs | check-dcpix-programs | check-dcpix-debian | check-paths | check-bursts)
		echo "$build qemu-user gzip bzip2 xz-utils zstd sqlite3 lua5.4 perl python3.11 mawk gawk
			sed grep coreutils openssl g++ golang-go rustc"
		;;
	dcpix | check-dcpix) echo "$build csmith libcsmith-dev" ;;
	fuzz | run-*) echo "$build clang libclang-rt-14-dev" ;;
	debug-kernel | check-debug-kernel | check-kcsan)
		echo "$build $vm sqlite3 flex bison bc libssl-dev"
		;;
	blind-spots | blind-spots-nmi)
		echo "$build $vm $vm_arm64 sqlite3 flex bison bc libssl-dev linux-perf"
		;;
	deb) echo "$build $deb" ;;
	systemd | check-systemd | check-power-cut) echo "$build $deb $vm mmdebstrap e2fsprogs" ;;
	kernels | check-kernels) echo "$build $vm sqlite3 sparse gcc-aarch64-linux-gnu" ;;
	kmod | sparse) echo "$build linux-headers-amd64 kmod sparse" ;;
	check | check-* | tests | build/* | qemu-* | bench-cost | floor-parts | soak | tutorial-doc | \
		policy | policy-traces | *-plugin) echo "$check" ;;
	*) echo "$build" ;;
	esac
}

wanted=
for goal; do
	wanted="$wanted $(packages "$goal")"
done
# shellcheck disable=SC2086 # words
wanted=$(printf '%s\n' $wanted | awk '!seen[$1]++')
if [ -n "$list" ]; then
	# shellcheck disable=SC2086 # words, one blank between them
	echo $wanted
	exit 0
fi

if ! command -v dpkg-query > /dev/null; then
	echo "deps: this is not Debian; make sure that the equivalents of these are installed:"
	echo "$wanted"
	exit 0
fi

# Print the packages of $wanted that are not installed.
missing_packages()
{
	# shellcheck disable=SC2086 # words
	{
		dpkg-query -W -f='${db:Status-Status} ${Package}\n' $wanted 2> /dev/null
		printf 'wanted %s\n' $wanted
	} | awk '$1 == "installed" { have[$2] } $1 == "wanted" && !($2 in have) { print $2 }'
}

[ -n "$wanted" ] && [ -n "$(missing_packages)" ] || exit 0
if [ "$(id -u)" -eq 0 ]; then
	# Wait: another make may be installing packages.
	exec 9< /var/lib/dpkg && flock 9
fi
missing=$(missing_packages | paste -sd ' ')
[ -n "$missing" ] || exit 0

echo "deps: installing with apt: $missing"
if [ "$(id -u)" -ne 0 ]; then
	echo "deps: that needs root; run: apt-get install $missing" >&2
	exit 2
fi
log=$(mktemp) || exit 2
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
install()
{
	# shellcheck disable=SC2086 # words
	apt-get -o DPkg::Lock::Timeout=600 install -y --no-install-recommends $missing
}
if ! { install || { apt-get update && install; }; } > "$log" 2>&1; then
	tail -n 15 "$log" >&2
	echo "deps: apt could not install: $missing" >&2
	exit 2
fi

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Installs the Debian packages that a make target needs and that are missing,
# after saying which. Changes neither apt's sources nor dpkg's architectures.
#
#   packaging/deps.sh [--list] TARGET    build, demo, check, ...: see below
set -u

build='gcc make pkg-config libc6-dev libelf-dev libdw-dev libsqlite3-dev zlib1g-dev liblzma-dev
	libjson-c-dev libncurses-dev libxxhash-dev libpfm4-dev libbpf-dev libzydis-dev libcapstone-dev liblbfgs-dev libiberty-dev libsuitesparse-dev
	libzstd-dev clang bpftool scdoc'
vm='qemu-system-x86 busybox-static cpio kmod linux-headers-amd64 zstd'
deb='debhelper dh-dkms dpkg-dev git lintian'
vm_arm64='qemu-system-arm qemu-user gcc-aarch64-linux-gnu'
check="$build $vm $vm_arm64 libcmocka-dev libc6-dev-arm64-cross sqlite3 xz-utils bzip2 perl git
	python3 python3-jsonschema graphviz libxml2-utils tmux valgrind binutils mandoc jq linux-perf
	binutils-alpha-linux-gnu g++ gcc-12-alpha-linux-gnu libc6.1-dev-alpha-cross llvm-14 llvm-14-dev
	lld strace procps"

list=
if [ "${1:-}" = --list ]; then
	list=yes
	shift
fi
case ${1:-} in
build) wanted=$build ;;
demo) wanted="$build sqlite3 xz-utils perl libc6-dbg" ;;
demo-vm) wanted="$build $vm sqlite3 xz-utils" ;;
check) wanted=$check ;;
bench) wanted="$check gawk lua5.4" ;;
fresh) wanted='mmdebstrap git' ;;
accuracy) wanted="$build qemu-user python3 gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-12-alpha-linux-gnu
	libc6.1-dev-alpha-cross
	g++ clang llvm-14-dev gzip bzip2 xz-utils zstd mawk gawk grep jq bc perl python3.11 lua5.4 sqlite3
	openssl binutils sed tcl php-cli ghostscript m4 groff-base coreutils lz4 git" ;;
jump-tables) wanted="$build qemu-user perl python3 sqlite3 gawk mawk lua5.3 bc bzip2 zstd xz-utils jq
	openssl binutils" ;;
node) wanted="$build nodejs sqlite3 python3" ;;
consumers) wanted="$build gcc valgrind bolt-16 autofdo golang-go golang-github-google-pprof-dev" ;;
models) wanted="$build python3 llvm-14 libc6-dev-arm64-cross" ;;
lint) wanted="$build libcmocka-dev clang-tidy clang-format cppcheck git mandoc
	python3 shellcheck llvm-14-dev" ;;
dcpix-programs) wanted="$build qemu-user gzip bzip2 xz-utils zstd sqlite3 lua5.4 perl python3.11 mawk gawk
	sed grep coreutils openssl g++ golang-go rustc" ;;
dcpix) wanted="$build csmith libcsmith-dev" ;;
fuzz) wanted="$build clang libclang-rt-14-dev" ;;
debug-kernel) wanted="$build $vm sqlite3 flex bison bc libssl-dev" ;;
blind-spots) wanted="$build $vm $vm_arm64 sqlite3 flex bison bc libssl-dev linux-perf" ;;
deb) wanted="$build $deb" ;;
systemd) wanted="$build $deb $vm mmdebstrap e2fsprogs" ;;
kernels) wanted="$build $vm sqlite3 sparse gcc-aarch64-linux-gnu" ;;
*)
	sed -n 's/^#   \(packaging.*\)/usage: \1/p' "$0" >&2
	exit 2
	;;
esac
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

missing=
for package in $wanted; do
	state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2> /dev/null)
	[ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "deps: installing with apt:$missing"
if [ "$(id -u)" -ne 0 ]; then
	echo "deps: that needs root; run: apt-get install$missing" >&2
	exit 2
fi
log=$(mktemp) || exit 2
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
if ! { apt-get install -y --no-install-recommends $missing ||
	{ apt-get update && apt-get install -y --no-install-recommends $missing; }; } > "$log" 2>&1; then
	tail -n 15 "$log" >&2
	echo "deps: apt could not install:$missing" >&2
	exit 2
fi

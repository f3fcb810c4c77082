# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Fetch Debian packages of any architecture. The scripts of this folder source this file; they set
# $top to the top of the tree.
#
# For each architecture, apt gets separate lists, state and cache below build/cache/apt, so neither
# the host's package lists nor its architectures change. The sources are the host's, plus the lines
# of the file that QEMU_APT_SOURCES names, if set (in sources.list syntax).

: "${top:?}"
apt_debs=$top/build/cache/deb

# apt_private ARCH TOOL ARGUMENT...: run TOOL with the lists, state and cache of ARCH
apt_private()
{
	apt_arch=$1 apt_tool=$2 apt_dir=$top/build/cache/apt/$1
	shift 2
	mkdir -p "$apt_dir/lists/partial" "$apt_dir/archives/partial"
	: >"$apt_dir/status"
	"$apt_tool" -qq -o "APT::Architecture=$apt_arch" -o "APT::Architectures=$apt_arch" \
		-o "APT::Sandbox::User=$(id -un)" \
		-o "Dir::State::Lists=$apt_dir/lists" \
		-o "Dir::State::status=$apt_dir/status" \
		-o "Dir::Cache=$apt_dir" \
		${QEMU_APT_SOURCES:+-o "Dir::Etc::SourceList=$QEMU_APT_SOURCES"} "$@"
}

# apt_alone COMMAND ARGUMENT...: run COMMAND under a lock, as make -j may run several scripts that
# fetch packages.
apt_alone()
{
	mkdir -p "$apt_debs"
	{
		flock 9
		"$@"
	} 9>"$top/build/cache/lock"
}

# apt_cached ARCH PACKAGE: print the newest cached file of the package, or nothing
apt_cached()
{
	find "$apt_debs" \( -name "$2_*_$1.deb" -o -name "$2_*_all.deb" \) 2>/dev/null | sort -V |
		tail -n 1
}

apt_download()
{
	[ -z "$(apt_cached "$1" "$2")" ] || return 0
	apt_private "$1" apt-get update >&2
	(cd "$apt_debs" && apt_private "$1" apt-get download "$2") >&2
}

# apt_deb ARCH PACKAGE: print the package's file; fetch it first if it is not cached
apt_deb()
{
	apt_alone apt_download "$1" "$2" || return 1
	apt_cached "$1" "$2"
}

# apt_with_dependencies ARCH FOLDER PACKAGE...: fetch the packages and all their dependencies into
# the folder
apt_with_dependencies()
{
	apt_wanted=$1 apt_into=$2
	shift 2
	mkdir -p "$apt_into/partial"
	apt_alone apt_private "$apt_wanted" apt-get update >&2 &&
		apt_alone apt_private "$apt_wanted" apt-get -o "Dir::Cache::archives=$apt_into" \
			install --download-only --no-install-recommends -y "$@" >&2
}

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Rewritten libraries behave like the originals and count exactly, together with other libraries and
# with a rewritten program.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

dcpix=$PWD/build/bin/dcpix
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
make --no-print-directory -s count-plugin || exit 2
export DCPIX_OUT=$scratch/counts XDG_CACHE_HOME=$scratch/cache
mkdir "$scratch/new"

cc=${CC:-gcc}
check "a host is built" "$cc" -O2 -g -I. -pthread -o "$scratch/host" tests/fixtures/programs/host.c -ldl
check "a guest is built" "$cc" -O2 -g -shared -fPIC -Wl,-soname,libguest.so -o "$scratch/libguest.so" \
	tests/fixtures/programs/guest.c
check "and another one" "$cc" -O1 -g -shared -fPIC -o "$scratch/other.so" tests/fixtures/programs/guest.c
cp "$scratch/libguest.so" "$scratch/twin.so"
for library in libguest.so other.so; do
	check "$library is rewritten" "$dcpix" -q -o "$scratch/new/$library" "$scratch/$library"
done
cp "$scratch/new/libguest.so" "$scratch/new/twin.so"
check "the host is rewritten" "$dcpix" -q -o "$scratch/new/host" "$scratch/host"

# counted LIBRARY: print the calls of called() in all files
counted()
{
	"$dcpix" --csv counts "$scratch/new/$1" "$scratch"/counts."$1".* 2> /dev/null |
		awk -F, '$4 == "\"called\"" { sum += $2 } END { print sum + 0 }'
}

# way WANT FILES WAY LIBRARY...: test the libraries with the old host and a new one; the first
# library must count WANT calls, in FILES files
way()
{
	local want=$1 files=$2 way=$3 first=$4 old got label host

	shift 3
	old=$(cd "$scratch" && within ./host "$way" "${@/#/./}" 2>&1; echo $?)
	for host in host new/host; do
		rm -f "$scratch"/counts.*
		label="$way $* $host"
		got=$(cd "$scratch" && within ./"$host" "$way" "${@/#/./new/}" 2>&1; echo $?)
		is "$label: does the same" "$got" "$old"
		is "$label: counts" "$(counted "$first")" "$want"
		is "$label: files" "$(find "$scratch" -name "counts.$first.*" | wc -l)" "$files"
	done
}
way 80010 1 call libguest.so
way 80010 1 call libguest.so other.so
way 80020 1 call libguest.so twin.so other.so
way 80010 1 crowd libguest.so
way 500 1 loop libguest.so
way 2002500 1 storm libguest.so
way 50510 6 fork libguest.so
way 110 2 inside libguest.so
way 200 1 vfork libguest.so
way 21 1 back libguest.so
way 8000000 1 many libguest.so

# A rewritten library may be stripped.
cp "$scratch/new/libguest.so" "$scratch/unstripped.so"
for option in --strip-debug --strip-unneeded --strip-all; do
	strip $option -o "$scratch/new/libguest.so" "$scratch/unstripped.so"
	way 80010 1 call libguest.so other.so
done
cp "$scratch/unstripped.so" "$scratch/new/libguest.so"

# If the program is killed at any time, no counts are lost.
rm -f "$scratch"/counts.*
"$scratch/host" forever "$scratch/new/libguest.so" & forever=$!
eventually cpu_used $forever 30
kill -9 $forever
wait $forever 2> /dev/null
check "nothing is lost by kill -9" [ "$(counted libguest.so)" -gt 10000 ]

# Exceptions pass through rewritten libraries: one that throws, and others that unwind.
folder=$(dirname "$(readlink -f "$(${CC:-gcc} -print-file-name=libstdc++.so.6)")")
for name in libstdc++.so.6 libgcc_s.so.1; do
	path=$(ldconfig -p | awk -v name=$name '$1 == name { print $NF; exit }')
	check "$name is rewritten" "$dcpix" -q -o "$scratch/new/$name" "${path:-$folder/$name}"
done
echo 'int thrower(); int main() { return thrower(); }' > "$scratch/main.cc"
check "a library throws" g++ -O2 -shared -fPIC -Wl,-soname,libthrows.so -Dmain=thrower -o "$scratch/libthrows.so" \
	tests/fixtures/programs/throws.cc
check "and a program is built with it" g++ -o "$scratch/throws" "$scratch/main.cc" \
	"$scratch/libthrows.so"
check "the library is rewritten" "$dcpix" -q -o "$scratch/new/libthrows.so" "$scratch/libthrows.so"
is "exceptions" "$(LD_LIBRARY_PATH=$scratch/new "$scratch/throws" 2>&1; echo $?)" \
	"$(LD_LIBRARY_PATH=$scratch "$scratch/throws" 2>&1; echo $?)"
is "procedures that catch them count" "$("$dcpix" --csv counts "$scratch/new/libthrows.so" \
	"$scratch"/counts.libthrows.so.* | c++filt | awk -F, '$4 == "\"middle(int)\"" { print $2 }')" 5

# Blocks and edges equal an emulator's.
. tests/lib/dcpix_exact.sh
cat docs/*.md > "$scratch/text"
check "a program with zlib is built" "$cc" -O2 -o "$scratch/deflate" tests/fixtures/programs/deflate.c -lz
exact_library libz 99 libz.so.1 "$scratch/deflate" "$scratch/text"
exact_library liblzma 95 liblzma.so.5 xz -T1 -0c tests/lib/tap.sh

# "dcpix run": a program with its libraries.
rm -f "$scratch"/counts.*
got=$("$dcpix" run -q -n 2 --library libz "$scratch/deflate" "$scratch/text" 2>&1 > "$scratch/printed")
is "run --library: ends as the program does" $? 0
is "run --library: prints the same" "$(cat "$scratch/printed")" "$("$scratch/deflate" "$scratch/text")"
is "run --library: a listing each" "$(grep -cE "instructions +% +calls" <<< "$got")" 2
like "run --library: says of what" "$got" "/libz\.so\.1"
got=$(DCPIX_CACHE=off "$dcpix" run -q --library libz "$scratch/deflate" "$scratch/text" 2>&1 > /dev/null)
is "run --library: without a cache" "$(grep -cE "instructions +% +calls" <<< "$got")" 2
got=$("$dcpix" run -q --db "$scratch/counts.db" --libraries -- "$scratch/deflate" "$scratch/text" \
	2>&1 > /dev/null)
is "run --libraries: ends as the program does" $? 0
is "run --libraries: libc counts under its own build-id" "$(sqlite3 "$scratch/counts.db" \
	"SELECT count(*) FROM image WHERE lower(hex(identity)) = '$(readelf -n "$(ldd "$scratch/deflate" |
	awk '$1 == "libc.so.6" { print $3 }')" | awk '/Build ID/ { print $3 }')'")" 1
is "run: nothing is left behind" "$(find /tmp -maxdepth 1 -name 'dcpix.??????' -newer "$scratch/printed")" ""

# refused: errors are reported in one line.
refused()
{
	refuses "$1" "^dcpix: $2" "$dcpix" "${@:3}"
}
refused "no such library" ".* needs no library 'libnone'" run --library libnone "$scratch/deflate"
refused "a library with a misspelt name" ".* needs no library 'libZ' \\(did you mean 'libz.so.1'\\?\\)" \
	run --library libZ "$scratch/deflate"
refused "libraries as values" ".*--csv" run --csv --library libz "$scratch/deflate"
loader=$(readelf -p .interp "$scratch/host" | awk '/\// { print $NF }')
refused "the loader" ".*the dynamic loader" -o "$scratch/x" "$loader"
for mode in paths calls context bursts; do
	refused "mode $mode" ".*supports only executables" --mode $mode -o "$scratch/x" \
		"$scratch/libguest.so"
done
tap_done

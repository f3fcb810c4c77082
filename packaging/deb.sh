#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the Debian packages from what git knows of the tree, as it is on disk,
# in a folder of its own.
#
#   packaging/deb.sh VERSION
set -eu
cd "$(dirname "$0")/.."
version=$1
out=$PWD/build/deb
source=$out/dcpi-$version

rm -rf "$source"
mkdir -p "$source"
git ls-files -z | while IFS= read -r -d '' file; do
	# A file that was removed and not committed is none of the tree's.
	[ ! -e "$file" ] || cp --parents -P "$file" "$source"
done
cp -r packaging/debian "$source/debian"
# Names that every Debian system to build on has are not to be said.
depends=$(packaging/deps.sh --list build | tr ' ' '\n' | grep -vxE 'gcc|make|libc6-dev' | paste -sd,)
sed -i "s/@BUILD_DEPENDS@/${depends//,/,\\n }/" "$source/debian/control"
cat > "$source/debian/changelog" << END
dcpi ($version) unstable; urgency=medium

  * Built from commit $(git rev-parse --short HEAD).

 -- DCPI for Linux <maintainers@dcpi.example>  $(git log -1 --format=%cD)
END
cd "$source"
if ! dpkg-buildpackage --build=binary --no-sign --jobs=2 > "$out/build.log" 2>&1; then
	tail -n 40 "$out/build.log" >&2
	exit 2
fi
rm -rf "$source"
ls "$out"/*"_${version}"_*.deb

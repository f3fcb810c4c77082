#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Build the Debian packages from the files that git tracks, with their contents on
# disk, in a separate folder.
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
	# Skip files that were removed without a commit.
	[ ! -e "$file" ] || cp --parents -P "$file" "$source"
done
cp -r packaging/debian "$source/debian"
# Build-essential packages must not be listed.
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

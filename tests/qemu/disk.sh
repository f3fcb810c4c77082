#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# disk.sh RELEASE OUTPUT PACKAGE...: make a disk with a Debian system on it, for check_systemd.sh:
# systemd, DKMS, headers and modules of that kernel, and the named packages. The disk is rebuilt
# only if these have changed.
#
# At boot, the system unpacks the tar archive on its second disk into /run/payload and runs
# /run/payload/tests/*.sh in the same way as ./init. It writes the same markers to the console.
set -eu
cd "$(dirname "$0")/../.."
release=$1 output=$2
shift 2
packages="systemd,systemd-sysv,udev,dbus,dkms,make,gcc,kmod,sudo,procps,passwd,sqlite3"
packages="$packages,linux-image-$release,linux-headers-$release$(printf ',%s' "$@")"
[ "$(cat "$output.packages" 2> /dev/null)" != "$packages" ] || exit 0

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$(dirname "$output")"
mmdebstrap --quiet --variant=minbase --include="$packages" bookworm "$root/system" >&2
cd "$root/system"
echo dcpi-test > etc/hostname
echo 127.0.0.1 localhost dcpi-test > etc/hosts
echo /dev/vda / ext4 defaults 0 1 > etc/fstab
rm -f etc/machine-id
touch etc/machine-id
cat > usr/local/sbin/run-tests << 'END'
#!/bin/bash
mkdir -p /run/payload
tar -xf /dev/vdb -C /run/payload
cp /run/payload/tap.sh /lib/tap.sh
echo
for script in /run/payload/tests/*.sh; do
	name=$(basename "$script" .sh)
	{
		bash "$script"
		echo $? > /run/status
	} 2>&1 < /dev/null | sed "s/^/@tap $name /"
	echo "@end $name $(cat /run/status) $(cut -d . -f 1 /proc/uptime)"
done
dmesg | sed 's/^/@log /'
echo @done
sync
systemctl reboot --force --force
END
chmod 755 usr/local/sbin/run-tests
cat > etc/systemd/system/run-tests.service << 'END'
[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/usr/local/sbin/run-tests
StandardOutput=tty
TTYPath=/dev/ttyS0
TimeoutStartSec=infinity
[Install]
WantedBy=graphical.target
END
mkdir -p etc/systemd/system/graphical.target.wants
ln -s ../run-tests.service etc/systemd/system/graphical.target.wants/
ln -sf /dev/null etc/systemd/system/serial-getty@ttyS0.service
rm -rf var/cache/apt/archives/*.deb var/lib/apt/lists/*
cd - > /dev/null
rm -f "$output.new"
truncate -s 3G "$output.new"
mke2fs -q -t ext4 -d "$root/system" "$output.new"
mv "$output.new" "$output"
echo "$packages" > "$output.packages"

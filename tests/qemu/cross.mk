# SPDX-License-Identifier: GPL-2.0-only
#
# make CROSS=arm64 ...: build programs, module and tests for another architecture in build/arm64,
# with Debian's cross compiler; see arch/ for the supported ones. Libraries come from a sysroot of
# Debian's packages, and kernel headers from Debian's headers package. Both are fetched once, and
# neither changes anything outside build/.
#
#   CROSS_RELEASE  kernel to build for and to run (default: the counterpart
#                  of the newest one whose headers are installed here)

OUT := $(OUT:build%=build/$(CROSS)%)
cross_arch = $(shell . tests/qemu/arch/$(CROSS).sh && echo $$$(1))
CROSS_TRIPLE := $(call cross_arch,GNU_TYPE)

SYSROOT := build/cache/sysroot-$(CROSS)
SYSROOT_PACKAGES := libc6-dev libcurl4-openssl-dev libncurses-dev libsqlite3-dev libdw-dev libelf-dev zlib1g-dev liblzma-dev \
	libjson-c-dev libxxhash-dev libpfm4-dev libbpf-dev libzydis-dev libcapstone-dev liblbfgs-dev libiberty-dev libsuitesparse-dev libzstd-dev \
	busybox-static sqlite3
SYSROOT_READY := $(SYSROOT)/.complete

CC := $(CROSS_TRIPLE)-gcc --sysroot=$(abspath $(SYSROOT))
AR := $(CROSS_TRIPLE)-ar
PKG_CONFIG := PKG_CONFIG_SYSROOT_DIR=$(abspath $(SYSROOT)) \
	PKG_CONFIG_LIBDIR=$(abspath $(SYSROOT)/usr/lib/$(CROSS_TRIPLE)/pkgconfig) pkg-config

CROSS_RELEASE ?= $(patsubst %-$(shell dpkg --print-architecture),%-$(call cross_arch,DEB_ARCH),$(lastword \
	$(shell ls /lib/modules/*/build -d 2>/dev/null | sed 's|/lib/modules/\(.*\)/build|\1|' | sort -V)))
KDIR ?= $(abspath build/qemu/$(CROSS)/headers-$(CROSS_RELEASE)/usr/src/linux-headers-$(CROSS_RELEASE))
KDIR_READY := $(KDIR)/Makefile
KMOD_MAKE := DEB_BUILD_ARCH=$(shell dpkg --print-architecture) \
	DEB_HOST_ARCH=$(call cross_arch,DEB_ARCH) DEB_HOST_GNU_TYPE=$(CROSS_TRIPLE)

QEMU_ARCH := $(CROSS)
QEMU_RELEASE := $(CROSS_RELEASE)
export QEMU_SYSROOT := $(abspath $(SYSROOT))

$(SYSROOT_READY): tests/qemu/cross.mk
	$(call say,SYSROOT,$(SYSROOT))
	$(Q)tests/qemu/sysroot.sh $(CROSS) $(SYSROOT) $(SYSROOT_PACKAGES) >/dev/null
	@touch $@

$(KDIR_READY):
	$(call say,HEADERS,$(CROSS_RELEASE))
	$(Q)tests/qemu/headers.sh $(CROSS) $(CROSS_RELEASE) >/dev/null

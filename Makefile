# SPDX-License-Identifier: GPL-2.0-only
#
# One makefile for everything in user space; each folder's module.mk says what
# it holds. The kernel module is built by kbuild from kmod/Kbuild.
#
#   make VARIANT=asan        the same programs and tests under ASan and UBSan
#   make V=1                 show the commands

.DELETE_ON_ERROR:
.SECONDEXPANSION:
MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := all

VERSION := 0.1.0

VARIANT ?= release
ifeq ($(VARIANT),release)
OUT := build
else
OUT := build/$(VARIANT)
endif
BIN := $(OUT)/bin
OBJ := $(OUT)/obj
LIB := $(OUT)/lib
TEST_BIN := $(OUT)/tests

PREFIX ?= /usr/local
DESTDIR ?=

CC ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif
AR ?= ar
PKG_CONFIG ?= pkg-config

OPTIMIZE ?= -O2
CFLAGS ?= $(OPTIMIZE) -g
CPPFLAGS += -I. -D_GNU_SOURCE -DDCPI_VERSION='"$(VERSION)"'
WARNINGS := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wvla \
	-Wpointer-arith -Wcast-qual -Wundef -Wwrite-strings -Werror
ALL_CFLAGS = -std=gnu17 $(WARNINGS) $(CFLAGS) -fno-strict-overflow -fPIC -fvisibility=hidden
ALL_LDFLAGS = $(LDFLAGS) -Wl,--as-needed

ifeq ($(VARIANT),asan)
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
ALL_CFLAGS += $(SANITIZE)
ALL_LDFLAGS += $(SANITIZE)
else ifeq ($(VARIANT),tsan)
SANITIZE := -fsanitize=thread -fno-omit-frame-pointer
ALL_CFLAGS += $(SANITIZE)
ALL_LDFLAGS += $(SANITIZE)
else
ALL_CFLAGS += -D_FORTIFY_SOURCE=2 -fstack-protector-strong
ALL_LDFLAGS += -Wl,-z,relro,-z,now
endif

Q := $(if $(V),,@)
say = $(if $(V),@:,@printf '  %-7s %s\n' '$(1)' '$(2)')

# What the parts are made of. module.mk files add to:
#   ARCHIVES   names; <name>-src: sources
#   PROGRAMS   names; <name>-src, <name>-archives (in link order),
#              <name>-pkgs (pkg-config modules), <name>-ldlibs
#   UNIT_TESTS names, likewise, linked with cmocka
#   BENCHES    names, likewise
#   PLUGINS    names of shared objects (lib/<name>.so), likewise
#   MAN_PAGES  docs/man/*.scd
ARCHIVES :=
PROGRAMS :=
UNIT_TESTS :=
BENCHES :=
FUZZERS :=
PLUGINS :=
MAN_PAGES :=

include $(wildcard */module.mk)

objects = $(patsubst %.c,$(OBJ)/%.o,$($(1)-src))
archives = $(patsubst %,$(LIB)/lib%.a,$($(1)-archives))
pkg_libs = $(if $($(1)-pkgs),$(shell $(PKG_CONFIG) --libs $($(1)-pkgs)))
ALL_SOURCES := $(sort $(foreach n,$(ARCHIVES) $(PROGRAMS) $(UNIT_TESTS) $(BENCHES) $(FUZZERS) \
	$(PLUGINS),$($(n)-src)))

.PHONY: all
all: $(PROGRAMS:%=$(BIN)/%) $(PLUGINS:%=$(LIB)/%.so) ## build all programs (build/bin)

.PHONY: tests
tests: $(UNIT_TESTS:%=$(TEST_BIN)/%)

$(OBJ)/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

$(ARCHIVES:%=$(LIB)/lib%.a): $(LIB)/lib%.a: $$(call objects,$$*)
	$(call say,AR,$@)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

link = $(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $(call objects,$*) $(call archives,$*) \
	$(call pkg_libs,$*) $($*-ldlibs)

$(PROGRAMS:%=$(BIN)/%): $(BIN)/%: $$(call objects,$$*) $$(call archives,$$*)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(link)

$(BENCHES:%=$(TEST_BIN)/%): $(TEST_BIN)/%: $$(call objects,$$*) $$(call archives,$$*)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(link)

$(UNIT_TESTS:%=$(TEST_BIN)/%): $(TEST_BIN)/%: $$(call objects,$$*) $$(call archives,$$*)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(link) $(shell $(PKG_CONFIG) --libs cmocka)

$(PLUGINS:%=$(LIB)/%.so): $(LIB)/%.so: $$(call objects,$$*) $$(call archives,$$*)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(link) -shared

-include $(ALL_SOURCES:%.c=$(OBJ)/%.d)

.PHONY: clean
clean: ## remove what was built (downloads stay)
	rm -rf build/bin build/obj build/lib build/tests build/asan build/tsan build/kmod build/man \
		build/qemu

.PHONY: distclean
distclean: ## remove build/ altogether, downloads too
	rm -rf build compile_commands.json

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' \
		$(MAKEFILE_LIST)

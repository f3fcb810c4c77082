# SPDX-License-Identifier: GPL-2.0-only
#
# Build the images of tests/programs/storm.c in STORM_DIR: programs image_N, which contain their own
# loops; tiny_N, the same without a C library; user_N, whose loops are in libstorm_N.so; and load,
# which has no loops.
#
#	make -f tests/programs/storm.mk STORM_DIR=DIR [CC=...]
CC ?= gcc
STORM_CFLAGS := -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE -Wl,--build-id=sha1
STORM_PROGRAMS := 0 1 2 3 4 5 6 7 8 9
STORM_LIBRARIES := 10 11 12 13 14 15
STORM_TINY := 20 21 22 23 24 25 26 27 28 29
storm_source := tests/programs/storm.c

storm_files := $(STORM_PROGRAMS:%=$(STORM_DIR)/image_%) $(STORM_LIBRARIES:%=$(STORM_DIR)/user_%) \
	$(STORM_TINY:%=$(STORM_DIR)/tiny_%) $(STORM_DIR)/load

.PHONY: storm
storm: $(storm_files)

$(STORM_DIR)/image_%: $(storm_source)
	@mkdir -p $(@D)
	@$(CC) $(STORM_CFLAGS) -DIMAGE=$* -no-pie -fno-pie -o $@ $< -ldl -lpthread

$(STORM_DIR)/tiny_%: $(storm_source)
	@mkdir -p $(@D)
	@$(CC) $(STORM_CFLAGS) -DIMAGE=$* -DTINY -no-pie -fno-pie -fno-stack-protector -static -nostdlib \
		-Wl,-z,noseparate-code -o $@ $<

$(STORM_DIR)/libstorm_%.so: $(storm_source)
	@mkdir -p $(@D)
	@$(CC) $(STORM_CFLAGS) -DIMAGE=$* -DLIBRARY -shared -fPIC -o $@ $<

# The libraries are targets, too.
storm: $(STORM_LIBRARIES:%=$(STORM_DIR)/libstorm_%.so)

$(STORM_DIR)/user_%: $(storm_source) $(STORM_DIR)/libstorm_%.so
	@$(CC) $(STORM_CFLAGS) -DIMAGE=-1 -o $@ $< -L$(STORM_DIR) -lstorm_$* -Wl,-rpath,'$$ORIGIN' \
		-ldl -lpthread

$(STORM_DIR)/load: $(STORM_DIR)/user_10
	@cp $< $@

# SPDX-License-Identifier: GPL-2.0-only
# Manual pages: docs/man/NAME.SECTION.scd -> build/man/NAME.SECTION
# Packages: scdoc
MAN_PAGES := $(wildcard docs/man/*.scd)
MAN_BUILT = $(MAN_PAGES:docs/man/%.scd=build/man/%)

.PHONY: man
man: $(MAN_BUILT) ## manual pages (build/man)

build/man/%: docs/man/%.scd
	$(call say,MAN,$<)
	@mkdir -p $(@D)
	$(Q)scdoc < $< > $@

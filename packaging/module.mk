# SPDX-License-Identifier: GPL-2.0-only
# make install and uninstall, both from the same lists.
DAEMONS := dcpid dcpiship
BINDIR = $(DESTDIR)$(PREFIX)/bin
SBINDIR = $(DESTDIR)$(PREFIX)/sbin
LIBDIR = $(DESTDIR)$(PREFIX)/lib/dcpi
MANDIR = $(DESTDIR)$(PREFIX)/share/man
SHAREDIR = $(DESTDIR)$(PREFIX)/share/dcpi
COMPLETIONDIR = $(DESTDIR)$(PREFIX)/share/bash-completion/completions

# Documents that manual pages refer to, and those that these link to; tests/cli/cli_install.sh compares
# them. They have the same folders below $(SHAREDIR) as below docs/.
SHARED := $(addprefix docs/,accuracy.md blind-spots.md bursts.md calls.md dcpicalc-json.md fleet.md glossary.md \
	operations.md optimize.md optimize/interpreter.c overhead.md performance.md reports.schema.json threat-model.md tutorial.md \
	tutorial/matrix.c variation.md \
	$(addprefix results/,accuracy.md accuracy-record.md optimize.md overhead.md performance.md sample_cost.svg))

USER_PROGRAMS = $(filter-out $(DAEMONS),$(PROGRAMS))
# The installed path of each page: man1/dcpiprof.1.
MAN_INSTALLED = $(foreach p,$(notdir $(MAN_BUILT)),man$(lastword $(subst ., ,$(p)))/$(p))

# Files for systemd and udev, as FILE:FOLDER/NAME below $(PREFIX)/lib.
SYSTEM_FILES := \
	build/packaging/systemd/dcpid.service:systemd/system/dcpid.service \
	build/packaging/systemd/dcpiship@.service:systemd/system/dcpiship@.service \
	build/packaging/systemd/dcpiweb.service:systemd/system/dcpiweb.service \
	packaging/systemd/sysusers.conf:sysusers.d/dcpi.conf \
	packaging/systemd/tmpfiles.conf:tmpfiles.d/dcpi.conf \
	packaging/systemd/udev.rules:udev/rules.d/70-dcpi.rules
SYSTEM_INSTALLED = $(foreach f,$(SYSTEM_FILES),"$(DESTDIR)$(PREFIX)/lib/$(lastword $(subst :, ,$(f)))")

# Units that administrators copy to /etc/systemd/system if they want them.
OPTIONAL_UNITS := build/packaging/systemd/dcpiopt.service packaging/systemd/dcpiopt.timer

# Files with @NAMES@ in them: rebuilt each time, since PREFIX may have changed.
build/packaging/%: packaging/%.in FORCE
	@mkdir -p $(@D)
	@sed -e 's,@SBINDIR@,$(PREFIX)/sbin,g' -e 's,@BINDIR@,$(PREFIX)/bin,g' -e 's,@VERSION@,$(VERSION),g' \
		-e 's,@PROGRAMS@,$(PROGRAMS),g' $< > $@
.PHONY: FORCE
FORCE:

.PHONY: install
install: all man $(filter build/%,$(OPTIONAL_UNITS) $(foreach f,$(SYSTEM_FILES),$(firstword $(subst :, ,$(f))))) build/packaging/bash-completion ## install under DESTDIR and PREFIX (default /usr/local)
	install -d "$(SBINDIR)" "$(BINDIR)" "$(LIBDIR)"
	install $(DAEMONS:%=$(BIN)/%) "$(SBINDIR)"
	install $(USER_PROGRAMS:%=$(BIN)/%) "$(BINDIR)"
	install -m 644 $(PLUGINS:%=$(LIB)/%.so) "$(LIBDIR)"
	for page in $(MAN_INSTALLED); do \
		install -D -m 644 "build/man/$${page#*/}" "$(MANDIR)/$$page" || exit 1; \
	done
	for file in $(SYSTEM_FILES); do \
		install -D -m 644 "$${file%:*}" "$(DESTDIR)$(PREFIX)/lib/$${file#*:}" || exit 1; \
	done
	install -d "$(SHAREDIR)/systemd"
	install -m 644 $(OPTIONAL_UNITS) "$(SHAREDIR)/systemd"
	install -D -m 644 web/LICENSES "$(SHAREDIR)/web/LICENSES"
	for file in $(SHARED:docs/%=%); do \
		install -D -m 644 "docs/$$file" "$(SHAREDIR)/$$file" || exit 1; \
	done
	install -d "$(COMPLETIONDIR)"
	for program in $(PROGRAMS); do \
		install -m 644 build/packaging/bash-completion "$(COMPLETIONDIR)/$$program" || exit 1; \
	done

.PHONY: uninstall
uninstall: ## remove what make install put there
	rm -f $(DAEMONS:%="$(SBINDIR)/%") $(USER_PROGRAMS:%="$(BINDIR)/%")
	rm -f $(PLUGINS:%="$(LIBDIR)/%.so") $(MAN_INSTALLED:%="$(MANDIR)/%")
	rm -f $(SYSTEM_INSTALLED) $(PROGRAMS:%="$(COMPLETIONDIR)/%")
	rm -f $(SHARED:docs/%="$(SHAREDIR)/%") "$(SHAREDIR)/web/LICENSES"
	rm -f $(foreach f,$(OPTIONAL_UNITS),"$(SHAREDIR)/systemd/$(notdir $(f))")
	for folder in web systemd $(filter-out ./,$(sort $(dir $(SHARED:docs/%=%)))); do \
		test ! -d "$(SHAREDIR)/$$folder" || \
			rmdir --ignore-fail-on-non-empty "$(SHAREDIR)/$$folder" || exit 1; \
	done
	test ! -d "$(SHAREDIR)" || rmdir --ignore-fail-on-non-empty "$(SHAREDIR)"
	test ! -d "$(LIBDIR)" || rmdir --ignore-fail-on-non-empty "$(LIBDIR)"
	cd "$(DESTDIR)$(PREFIX)/lib" && for file in $(SYSTEM_FILES); do \
		folder=$$(dirname "$${file#*:}"); \
		test ! -d "$$folder" || rmdir -p --ignore-fail-on-non-empty "$$folder"; \
	done

# Debian packages of the tree in its current state: build/deb/*.deb.
#   DEB_VERSION   version; default: the project's
DEB_VERSION ?= $(VERSION)
.PHONY: deb
deb: ## Debian packages dcpi and dcpi-dkms, in build/deb
	@packaging/deb.sh "$(DEB_VERSION)"

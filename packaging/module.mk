# SPDX-License-Identifier: GPL-2.0-only
# make install and uninstall, both from the same lists.
DAEMONS := dcpid
BINDIR = $(DESTDIR)$(PREFIX)/bin
SBINDIR = $(DESTDIR)$(PREFIX)/sbin
LIBDIR = $(DESTDIR)$(PREFIX)/lib/dcpi
MANDIR = $(DESTDIR)$(PREFIX)/share/man
SHAREDIR = $(DESTDIR)$(PREFIX)/share/dcpi
COMPLETIONDIR = $(DESTDIR)$(PREFIX)/share/bash-completion/completions

# Documents that manual pages refer to; tests/cli_install.sh compares both.
SHARED := docs/calls.md docs/dcpicalc-json.md docs/reports.schema.json

USER_PROGRAMS = $(filter-out $(DAEMONS),$(PROGRAMS))
# The installed path of each page: man1/dcpiprof.1.
MAN_INSTALLED = $(foreach p,$(notdir $(MAN_BUILT)),man$(lastword $(subst ., ,$(p)))/$(p))

# Files for systemd and udev, as FILE:FOLDER/NAME below $(PREFIX)/lib.
SYSTEM_FILES := \
	build/packaging/systemd/dcpid.service:systemd/system/dcpid.service \
	packaging/systemd/sysusers.conf:sysusers.d/dcpi.conf \
	packaging/systemd/tmpfiles.conf:tmpfiles.d/dcpi.conf \
	packaging/systemd/udev.rules:udev/rules.d/70-dcpi.rules
SYSTEM_INSTALLED = $(foreach f,$(SYSTEM_FILES),"$(DESTDIR)$(PREFIX)/lib/$(lastword $(subst :, ,$(f)))")

# Files with @NAMES@ in them: rebuilt each time, since PREFIX may have changed.
build/packaging/%: packaging/%.in FORCE
	@mkdir -p $(@D)
	@sed -e 's,@SBINDIR@,$(PREFIX)/sbin,g' -e 's,@VERSION@,$(VERSION),g' \
		-e 's,@PROGRAMS@,$(PROGRAMS),g' $< > $@
.PHONY: FORCE
FORCE:

.PHONY: install
install: all man build/packaging/systemd/dcpid.service build/packaging/bash-completion ## install under DESTDIR and PREFIX (default /usr/local)
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
	install -d "$(SHAREDIR)"
	install -m 644 $(SHARED) "$(SHAREDIR)"
	install -d "$(COMPLETIONDIR)"
	for program in $(PROGRAMS); do \
		install -m 644 build/packaging/bash-completion "$(COMPLETIONDIR)/$$program" || exit 1; \
	done

.PHONY: uninstall
uninstall: ## remove what make install put there
	rm -f $(DAEMONS:%="$(SBINDIR)/%") $(USER_PROGRAMS:%="$(BINDIR)/%")
	rm -f $(PLUGINS:%="$(LIBDIR)/%.so") $(MAN_INSTALLED:%="$(MANDIR)/%")
	rm -f $(SYSTEM_INSTALLED) $(PROGRAMS:%="$(COMPLETIONDIR)/%")
	rm -f $(SHARED:docs/%="$(SHAREDIR)/%")
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

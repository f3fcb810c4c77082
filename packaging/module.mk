# SPDX-License-Identifier: GPL-2.0-only
# make install / uninstall: the same list read both ways.
DAEMONS := dcpid
SBINDIR = $(DESTDIR)$(PREFIX)/sbin
BINDIR = $(DESTDIR)$(PREFIX)/bin
LIBDIR = $(DESTDIR)$(PREFIX)/lib/dcpi
MANDIR = $(DESTDIR)$(PREFIX)/share/man

USER_PROGRAMS = $(filter-out $(DAEMONS),$(PROGRAMS))
# man1/dcpiprof.1 for each page.
MAN_INSTALLED = $(foreach p,$(notdir $(MAN_BUILT)),man$(lastword $(subst ., ,$(p)))/$(p))

.PHONY: install
install: all man ## install under DESTDIR and PREFIX (default /usr/local)
	install -d "$(SBINDIR)" "$(BINDIR)" "$(LIBDIR)"
	install $(DAEMONS:%=$(BIN)/%) "$(SBINDIR)"
	install $(USER_PROGRAMS:%=$(BIN)/%) "$(BINDIR)"
	install -m 644 $(PLUGINS:%=$(LIB)/%.so) "$(LIBDIR)"
	for page in $(MAN_INSTALLED); do \
		install -D -m 644 "build/man/$${page#*/}" "$(MANDIR)/$$page" || exit 1; \
	done

.PHONY: uninstall
uninstall: ## remove what make install put there
	rm -f $(DAEMONS:%="$(SBINDIR)/%") $(USER_PROGRAMS:%="$(BINDIR)/%")
	rm -f $(PLUGINS:%="$(LIBDIR)/%.so") $(MAN_INSTALLED:%="$(MANDIR)/%")
	test ! -d "$(LIBDIR)" || rmdir --ignore-fail-on-non-empty "$(LIBDIR)"

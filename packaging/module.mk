# SPDX-License-Identifier: GPL-2.0-only
# make install / uninstall: the same list read both ways.
DAEMONS := dcpid
SBINDIR = $(DESTDIR)$(PREFIX)/sbin
BINDIR = $(DESTDIR)$(PREFIX)/bin
LIBDIR = $(DESTDIR)$(PREFIX)/lib/dcpi
MANDIR = $(DESTDIR)$(PREFIX)/share/man

USER_PROGRAMS = $(filter-out $(DAEMONS),$(PROGRAMS))

.PHONY: install
install: all man ## install under DESTDIR and PREFIX (default /usr/local)
	install -d $(SBINDIR) $(BINDIR) $(LIBDIR)
	install $(DAEMONS:%=$(BIN)/%) $(SBINDIR)
	install $(USER_PROGRAMS:%=$(BIN)/%) $(BINDIR)
	install -m 644 $(PLUGINS:%=$(LIB)/%.so) $(LIBDIR)
	@for page in $(MAN_BUILT); do \
		install -d $(MANDIR)/man$${page##*.}; \
		install -m 644 $$page $(MANDIR)/man$${page##*.} || exit 1; \
	done

.PHONY: uninstall
uninstall: ## remove what make install put there
	rm -f $(DAEMONS:%=$(SBINDIR)/%) $(USER_PROGRAMS:%=$(BINDIR)/%) $(PLUGINS:%=$(LIBDIR)/%.so)
	rm -f $(foreach p,$(MAN_BUILT),$(MANDIR)/man$(lastword $(subst ., ,$(p)))/$(notdir $(p)))
	-rmdir $(LIBDIR)

# SPDX-License-Identifier: GPL-2.0-only
# The page of dcpireport. web/dist/page.html is part of the sources, so that the build needs no npm.

.PHONY: page
page: ## build the page of dcpireport from its sources (web/dist), with npm
	cd web && npm ci --ignore-scripts && npm run build

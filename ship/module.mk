# SPDX-License-Identifier: GPL-2.0-only
# Packages: libcurl4-openssl-dev, zlib1g-dev
# Delivery of profiles to other systems.
ARCHIVES += ship
ship-src := $(addprefix ship/, clickhouse.c clickhouse_schema.c delivery.c engine.c fleet_copy.c fleet_epoch.c format_otlp.c format_pprof.c gzip.c http_client.c native_block.c otlp.c \
	pprof_push.c profile_batch.c protocol.c row_buffer.c rows.c rows_epoch.c rows_samples.c rows_slice.c samples.c \
	ship_config.c ship_id.c ship_metrics.c shipment.c)
ship-needs := db
ship-pkgs := libcurl zlib

# The views as a C string.
GENERATED += $(OBJ)/gen/ship/clickhouse_views.h
$(OBJ)/gen/ship/clickhouse_views.h: db/clickhouse/views.sql ship/module.mk
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q){ echo 'static const char views_sql[] ='; \
		sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/\t"&\\n"/' $<; echo ';'; } > $@

$(OBJ)/ship/clickhouse_schema.o: CPPFLAGS += -I$(OBJ)/gen
$(OBJ)/ship/clickhouse_schema.o: $(OBJ)/gen/ship/clickhouse_views.h

ship-programs := dcpiship dcpifetch
ship-tests := unit_gzip unit_shipment
dcpiship-src := ship/dcpiship.c
dcpiship-with := daemon/base/log.c
dcpifetch-src := ship/dcpifetch.c

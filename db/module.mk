# SPDX-License-Identifier: GPL-2.0-only
ARCHIVES += db
db-needs := util
db-pkgs := sqlite3 zlib
db-src := db/database.c db/broker_vfs.c db/blob_header.c db/profile_blob.c db/profile_pairs.c db/edge_blob.c db/symbol_blob.c \
	db/writer_lock.c db/database_file.c db/profile_place.c db/profile_write.c db/profile_write_epoch.c db/profile_write_samples.c \
	db/profile_write_edges.c db/profile_write_slices.c db/profile_write_labels.c db/profile_write_expire.c \
	db/profile_owners.c db/slice_rows.c db/profile_read.c db/profile_read_slices.c db/profile_read_samples.c db/profile_read_edges.c db/profile_read_labels.c \
	db/profile_merge.c db/code_blob.c db/profile_read_code.c db/profile_write_code.c \
	db/recording_blob.c db/profile_read_recordings.c db/profile_write_recordings.c \
	db/ship_state.c

# The schema and its migrations as C strings: one line of SQL, one of C.
SCHEMA_SQL := db/schema.sql db/schema_from_3.sql db/schema_from_4.sql db/schema_from_5.sql \
	db/schema_from_6.sql db/schema_from_7.sql
GENERATED += $(OBJ)/gen/db/schema.h
$(OBJ)/gen/db/schema.h: $(SCHEMA_SQL)
GENERATED += $(OBJ)/gen/db/ship_schema.h
$(OBJ)/gen/db/ship_schema.h: db/ship_state.sql
$(OBJ)/gen/db/%.h: db/module.mk
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)for sql in $(filter %.sql,$^); do \
		echo "static const char $$(basename $$sql .sql)_sql[] ="; \
		sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/\t"&\\n"/' $$sql; echo ';'; \
	done > $@

$(OBJ)/db/database.o: CPPFLAGS += -I$(OBJ)/gen
$(OBJ)/db/database.o: $(OBJ)/gen/db/schema.h
$(OBJ)/db/ship_state.o: CPPFLAGS += -I$(OBJ)/gen
$(OBJ)/db/ship_state.o: $(OBJ)/gen/db/ship_schema.h

# The name is the argument of sqlite3's .load; see db/dcpi_sqlite.h.
PLUGINS += dcpi_sqlite
dcpi_sqlite-src := db/dcpi_sqlite.c db/dcpi_samples.c db/dcpi_edges.c db/dcpi_symbols.c
dcpi_sqlite-archives := db

db-tests := unit_edge_blob unit_power_cut unit_profile_blob unit_profile_db unit_profile_db_code \
	unit_profile_db_counts unit_profile_db_damage unit_profile_db_edges \
	unit_profile_db_failures unit_profile_db_recordings unit_profile_expire \
	unit_profile_labels unit_profile_memory unit_profile_merge unit_profile_owners \
	unit_profile_slices
unit_power_cut-with := tests/fixtures/power_cut_vfs.c
db-benches := bench_db
bench_db-ldlibs := -lm
# These programs make the databases that tests read.
db-helpers := kernel_addresses make_golden_db make_profile_db merge_cost

FUZZERS += fuzz_profile_blob
fuzz_profile_blob-with := db/blob_header.c db/code_blob.c db/profile_blob.c db/profile_pairs.c db/symbol_blob.c \
	db/edge_blob.c db/recording_blob.c lib/array.c lib/bounded_reader.c
fuzz_profile_blob-pkgs := zlib

.PHONY: check-crash
check-crash: all build/tests/unit_power_cut ## 600 power failures, 500 times kill -9, while databases are written
	POINTS=600 build/tests/unit_power_cut
	POINTS=500 tests/cli/cli_crash.sh

.PHONY: check-huge
check-huge: all ## a database of 10 GB, in TMPDIR
	SIZE_MB=10240 tests/cli/cli_huge_db.sh

.PHONY: check-faults
check-faults: all build/tests/make_perfdata ## every allocation and system call of every program fails (hours)
	tests/long/faults.py

.PHONY: fuzz-database fuzz-perfdata
fuzz-database: all build/tests/make_perfdata ## damaged databases through every program, for FUZZ_SECONDS
	tests/long/faults.py --damage-database $(FUZZ_SECONDS)
fuzz-perfdata: all build/tests/make_perfdata ## damaged perf.data files through dcpiimport, for FUZZ_SECONDS
	tests/long/faults.py --damage-perfdata $(FUZZ_SECONDS)

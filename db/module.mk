# SPDX-License-Identifier: GPL-2.0-only
ARCHIVES += db
db-src := db/database.c db/profile_blob.c db/symbol_blob.c db/writer_lock.c \
	db/profile_write.c db/profile_write_epoch.c db/profile_write_samples.c \
	db/profile_write_expire.c \
	db/profile_read.c db/profile_read_samples.c

# The schema as a C string: one line of SQL, one line of C.
GENERATED += $(OBJ)/gen/db/schema.h
$(OBJ)/gen/db/schema.h: db/schema.sql
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q){ echo 'static const char schema_sql[] ='; \
		sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/\t"&\\n"/' $<; echo ';'; } > $@

$(OBJ)/db/database.o: CPPFLAGS += -I$(OBJ)/gen
$(OBJ)/db/database.o: $(OBJ)/gen/db/schema.h

UNIT_TESTS += unit_profile_blob
unit_profile_blob-src := tests/unit_profile_blob.c
unit_profile_blob-archives := db util
unit_profile_blob-pkgs := sqlite3 zlib

UNIT_TESTS += unit_profile_db
unit_profile_db-src := tests/unit_profile_db.c
unit_profile_db-archives := db util
unit_profile_db-pkgs := sqlite3 zlib

# Named after what sqlite3's .load is given; see db/dcpi_sqlite.h.
PLUGINS += dcpi_sqlite
dcpi_sqlite-src := db/dcpi_sqlite.c db/dcpi_samples.c db/dcpi_symbols.c
dcpi_sqlite-archives := db util
dcpi_sqlite-pkgs := zlib

UNIT_TESTS += unit_profile_db_damage
unit_profile_db_damage-src := tests/unit_profile_db_damage.c
unit_profile_db_damage-archives := db util
unit_profile_db_damage-pkgs := sqlite3 zlib

BENCHES += bench_db
bench_db-src := tests/bench_db.c
bench_db-archives := db util
bench_db-pkgs := sqlite3 zlib
bench_db-ldlibs := -lm

FUZZERS += fuzz_profile_blob
fuzz_profile_blob-src := tests/fuzz_profile_blob.c db/profile_blob.c db/symbol_blob.c \
	lib/array.c lib/bounded_reader.c
fuzz_profile_blob-pkgs := zlib

# SPDX-License-Identifier: GPL-2.0-only
ARCHIVES += db
db-src := db/database.c db/profile_blob.c db/symbol_blob.c db/writer_lock.c \
	db/profile_write.c db/profile_write_epoch.c db/profile_write_samples.c \
	db/profile_read.c db/profile_read_samples.c

# The schema as a C string: one line of SQL, one line of C.
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

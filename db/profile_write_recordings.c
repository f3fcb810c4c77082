// SPDX-License-Identifier: GPL-2.0-only
#include "db/profile_write.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#include "db/profile_writer.h"
#include "db/recording_blob.h"
#include "lib/error.h"

static int recording_write(struct profile_writer *writer, int64_t image,
			   const struct profile_recording *recording, enum writer_statement how,
			   struct error *err)
{
	sqlite3_stmt *statement;
	uint64_t rows = 0;
	int r = profile_writer_in_epoch(writer, err);

	if (r < 0)
		return r;
	if ((unsigned int)recording->mode >= PROFILE_RECORDING_MODES)
		return error_set(err, EINVAL, "there are no recordings of mode %d",
				 (int)recording->mode);
	r = recording_blob_encode(
		&writer->blob, recording_blob_key(writer->epoch, image, (int64_t)recording->mode),
		recording, &rows);
	if (r < 0)
		return error_set(err, -r, "cannot add a recording of image %lld: %s",
				 (long long)image, strerror(-r));
	r = profile_writer_statement(writer, how, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "iiitib", writer->epoch, image,
				  (int64_t)recording->mode, recording->metric, (int64_t)rows,
				  (const void *)writer->blob.data, writer->blob.bytes);
	if (r == 0)
		r = database_step(&writer->db, statement, "write", err);
	return r;
}

int profile_writer_recording(struct profile_writer *writer, int64_t image,
			     const struct profile_recording *recording, struct error *err)
{
	int r = recording_write(writer, image, recording, WRITER_RECORDING_ADD, err);

	if (r < 0 || sqlite3_changes(writer->db.handle) > 0)
		return r;
	return error_set(err, EEXIST, "this recording of image %lld exists already",
			 (long long)image);
}

int profile_writer_recording_set(struct profile_writer *writer, int64_t image,
				 const struct profile_recording *recording, struct error *err)
{
	return recording_write(writer, image, recording, WRITER_RECORDING_SET, err);
}

int profile_writer_recordings_clear(struct profile_writer *writer, enum profile_recording_mode mode,
				    struct error *err)
{
	sqlite3_stmt *statement;
	int r = profile_writer_in_epoch(writer, err);

	if (r == 0)
		r = profile_writer_statement(writer, WRITER_RECORDINGS_CLEAR, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "ii", writer->epoch, (int64_t)mode);
	return r == 0 ? database_step(&writer->db, statement, "write", err) : r;
}

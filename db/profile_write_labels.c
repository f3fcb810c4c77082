// SPDX-License-Identifier: GPL-2.0-only
/* Labels, shares and processes, which attribute samples to units and containers. */
#include "db/profile_write.h"

#include <errno.h>
#include <sqlite3.h>

#include "db/profile_writer.h"
#include "lib/error.h"

int profile_writer_process(struct profile_writer *writer, const struct profile_process *process,
			   struct error *err)
{
	sqlite3_stmt *statement = NULL;
	int r;

	r = profile_writer_in_epoch(writer, err);
	if (r == 0)
		r = profile_writer_statement(writer, WRITER_PROCESS_SET, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "iiti", writer->epoch, process->pid,
				  process->command, (int64_t)process->label);
	return r == 0 ? database_step(&writer->db, statement, "write", err) : r;
}

int profile_writer_label(struct profile_writer *writer, const struct profile_label *label,
			 struct error *err)
{
	sqlite3_stmt *statement = NULL;
	int r;

	if (label->number == 0 || label->number > PROFILE_LABEL_MAX)
		return error_set(err, EINVAL, "%u is not a valid label number", label->number);
	r = profile_writer_in_epoch(writer, err);
	if (r == 0)
		r = profile_writer_statement(writer, WRITER_LABEL_SET, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "iitt", writer->epoch,
				  (int64_t)label->number, label->unit, label->container);
	return r == 0 ? database_step(&writer->db, statement, "write", err) : r;
}

int profile_writer_share(struct profile_writer *writer, int64_t image, uint32_t event,
			 uint32_t label, uint64_t samples, struct error *err)
{
	sqlite3_stmt *statement = NULL;
	int r;

	r = profile_writer_in_epoch(writer, err);
	if (r == 0)
		r = profile_writer_check_count(samples, "samples of a label", err);
	if (r == 0)
		r = profile_writer_statement(writer, WRITER_SHARE_ADD, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "iiiii", writer->epoch, image,
				  (int64_t)event, (int64_t)label, (int64_t)samples);
	return r == 0 ? database_step(&writer->db, statement, "write", err) : r;
}

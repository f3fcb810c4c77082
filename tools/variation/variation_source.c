// SPDX-License-Identifier: GPL-2.0-only
#include "tools/variation/variation_source.h"

#include <errno.h>

#include "lib/error.h"
#include "lib/error_text.h"

static int take_recording(void *context, const struct profile_recording *recording)
{
	struct variation_source *source = context;

	return variation_recorded_add(&source->recorded, recording, source->recordings.path,
				      source->recordings.build_id);
}

int variation_source_failed(int r, struct error *err)
{
	return error_set(err, -r, r == -ENOMEM ? ERROR_NO_MEMORY : "damaged path graphs");
}

int variation_source_read(struct variation_source *source, struct cli *cli, bool all,
			  struct variation_listing *listing, struct error *err)
{
	struct recording_source *recordings = &source->recordings;
	int r = recording_source_open(recordings, cli, PROFILE_RECORDING_VARIATION, err);

	if (r == 0)
		r = recording_source_visit(recordings, take_recording, source, err);
	if (r < 0)
		return r;
	r = variation_recorded_end(&source->recorded);
	if (r == 0)
		r = variation_listing_make_recorded(listing, &source->recorded, all);
	return r < 0 ? variation_source_failed(r, err) : 0;
}

void variation_source_close(struct variation_source *source)
{
	variation_recorded_deinit(&source->recorded);
	recording_source_close(&source->recordings);
}

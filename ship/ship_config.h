/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration of dcpiship for one destination, in the syntax of lib/config_file.h. Keys:
 *
 *	db              path of the profile database.
 *	state           path of the state file; its folder must be writable.
 *	protocol        "clickhouse", "otlp" or "pprof".
 *	url             address of the destination: "https://HOST:PORT/".
 *	database        name of the database in the destination.
 *	service         otlp, pprof: name of the service that the profiles belong to.
 *	user            name for HTTP authentication; empty: none.
 *	password_file   file with the password of the user.
 *	token_file      file with a bearer token.
 *	ca_file         certificates of authorities to trust, instead of the system's.
 *	cert_file       certificate of this client, with its key in key_file.
 *	key_file        key of this client.
 *	interval_s      interval at which the database is read, 1..3600.
 *	timeout_s       maximum time of a request, 1..3600.
 *	retry_max_s     maximum interval between repetitions, 1..86400.
 *	request_kb      maximum size of a request, 64..65536.
 *	quarantine_max  number of quarantined batches at which delivery stops, 1..10000.
 *	metrics_file    file with metrics in the format of Prometheus; empty: none.
 *	paths           1: send the paths of images; 0: don't.
 *	units           1: send the names of units and containers; 0: don't.
 *	commands        1: send the names of processes; 0: don't.
 *	procedures      1: send the names of procedures; 0: don't.
 *	unnamed         otlp, pprof: 1: name code of unknown procedures by image and offset; 0:
 *don't. stacks          1: send call stacks; 0: don't.
 */
#ifndef DCPI_SHIP_CONFIG_H
#define DCPI_SHIP_CONFIG_H

#include <stddef.h>
#include <stdint.h>

struct error;

/** struct ship_config - values as above */
struct ship_config {
	char db[4096];
	char state[4096];
	char protocol[16];
	char url[2048];
	char database[64];
	char service[128];
	char user[256];
	char password_file[4096];
	char token_file[4096];
	char ca_file[4096];
	char cert_file[4096];
	char key_file[4096];
	uint64_t interval_s;
	uint64_t timeout_s;
	uint64_t retry_max_s;
	uint64_t request_kb;
	uint64_t quarantine_max;
	char metrics_file[4096];
	uint64_t paths;
	uint64_t units;
	uint64_t commands;
	uint64_t procedures;
	uint64_t unnamed;
	uint64_t stacks;
};

/** ship_config_init() - set defaults */
void ship_config_init(struct ship_config *config);

/** ship_config_set() - set one key, as config_file_set() */
int ship_config_set(struct ship_config *config, const char *key, const char *value,
		    struct error *err);

/**
 * ship_config_read() - set defaults, and read a file and its drop-ins
 *
 * Return: 0; -ENOENT there is no such file; -EINVAL with a message.
 */
int ship_config_read(struct ship_config *config, const char *path, struct error *err);

/** ship_config_check() - check that the settings are complete. Return: 0 or -EINVAL. */
int ship_config_check(const struct ship_config *config, struct error *err);

/** ship_config_check_server() - the same without settings that only delivery needs */
int ship_config_check_server(const struct ship_config *config, struct error *err);

/**
 * ship_config_secret() - read a password or token: the file without the newline at its end
 * @secret: out
 *
 * Return: 0; -EACCES other users may read the file; -EINVAL empty, too long, or with control
 * characters; errors of open(2).
 */
int ship_config_secret(const char *path, char *secret, size_t bytes, struct error *err);

#endif

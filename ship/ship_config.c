// SPDX-License-Identifier: GPL-2.0-only
#include "ship/ship_config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/config_file.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "ship/protocol.h"

static int url_check(const char *value, struct error *err)
{
	if (value[0] == '\0' || strncmp(value, "http://", 7) == 0 ||
	    strncmp(value, "https://", 8) == 0)
		return strpbrk(value, "?#@ ") == NULL
			       ? 0
			       : error_set(err, EINVAL,
					   "url must have no user, query or fragment: '%s'", value);
	return error_set(err, EINVAL, "url must begin with http:// or https://, not '%s'", value);
}

/* The name becomes a part of addresses. */
static int database_check(const char *value, struct error *err)
{
	for (const char *p = value; *p != '\0'; p++) {
		if (!isalnum((unsigned char)*p) && *p != '_')
			return error_set(err, EINVAL, ERROR_NOT_VALID, value, "name of a database");
	}
	return value[0] != '\0' ? 0 : error_set(err, EINVAL, "the name of the database is empty");
}

static int protocol_check(const char *value, struct error *err)
{
	return protocol_find(value) != NULL
		       ? 0
		       : error_set(err, EINVAL, ERROR_NOT_VALID, value,
				   "protocol: 'clickhouse', 'otlp' or 'pprof'");
}

/* The name becomes a part of addresses. */
static int service_check(const char *value, struct error *err)
{
	for (const char *p = value; *p != '\0'; p++) {
		if (!isalnum((unsigned char)*p) && strchr("_-./", *p) == NULL)
			return error_set(err, EINVAL, ERROR_NOT_VALID, value, "name of a service");
	}
	return value[0] != '\0' ? 0 : error_set(err, EINVAL, "the name of the service is empty");
}

static const struct config_key key_list[] = {
#define TEXT(field) CONFIG_FILE_TEXT(struct ship_config, field)
#define NUMBER(field) CONFIG_FILE_NUMBER(struct ship_config, field)
	{TEXT(db), .initial = "/var/lib/dcpi/dcpi.db"},
	{TEXT(state), .initial = ""},
	{TEXT(protocol), .initial = "clickhouse", .check = protocol_check},
	{TEXT(url), .initial = "", .check = url_check},
	{TEXT(database), .initial = "dcpi", .check = database_check},
	{TEXT(service), .initial = "dcpi", .check = service_check},
	{TEXT(user), .initial = ""},
	{TEXT(password_file), .initial = ""},
	{TEXT(token_file), .initial = ""},
	{TEXT(ca_file), .initial = ""},
	{TEXT(cert_file), .initial = ""},
	{TEXT(key_file), .initial = ""},
	{NUMBER(interval_s), .min = 1, .max = 3600, .initial = "10"},
	{NUMBER(timeout_s), .min = 1, .max = 3600, .initial = "60"},
	{NUMBER(retry_max_s), .min = 1, .max = 86400, .initial = "300"},
	{NUMBER(request_kb), .min = 64, .max = 65536, .initial = "4096"},
	{NUMBER(quarantine_max), .min = 1, .max = 10000, .initial = "16"},
	{TEXT(metrics_file), .initial = ""},
	{NUMBER(paths), .max = 1, .initial = "1"},
	{NUMBER(units), .max = 1, .initial = "1"},
	{NUMBER(commands), .max = 1, .initial = "1"},
	{NUMBER(procedures), .max = 1, .initial = "1"},
	{NUMBER(unnamed), .max = 1, .initial = "1"},
	{NUMBER(stacks), .max = 1, .initial = "1"},
#undef TEXT
#undef NUMBER
};

static const struct config_keys keys = {key_list, sizeof(key_list) / sizeof(key_list[0])};

void ship_config_init(struct ship_config *config)
{
	config_file_init(config, sizeof(*config), &keys);
}

int ship_config_set(struct ship_config *config, const char *key, const char *value,
		    struct error *err)
{
	return config_file_set(config, &keys, key, value, err);
}

int ship_config_read(struct ship_config *config, const char *path, struct error *err)
{
	ship_config_init(config);
	return config_file_read(config, &keys, path, err);
}

int ship_config_check(const struct ship_config *config, struct error *err)
{
	if (config->url[0] != '\0' && config->state[0] == '\0')
		return error_set(err, EINVAL, "no state file: the configuration has no 'state'");
	return ship_config_check_server(config, err);
}

int ship_config_check_server(const struct ship_config *config, struct error *err)
{
	if (config->url[0] == '\0')
		return error_set(err, EINVAL, "no destination: the configuration has no 'url'");
	if ((config->user[0] == '\0') != (config->password_file[0] == '\0'))
		return error_set(err, EINVAL, "'user' and 'password_file' must be set together");
	if (config->user[0] != '\0' && config->token_file[0] != '\0')
		return error_set(err, EINVAL, ERROR_EXCLUSIVE("'user'", "'token_file'"));
	if ((config->cert_file[0] == '\0') != (config->key_file[0] == '\0'))
		return error_set(err, EINVAL, "'cert_file' and 'key_file' must be set together");
	return 0;
}

int ship_config_secret(const char *path, char *secret, size_t bytes, struct error *err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat status;
	ssize_t length;

	if (fd < 0 || fstat(fd, &status) < 0)
		return error_set_errno(err, ERROR_OPEN, path);
	if (!S_ISREG(status.st_mode))
		return error_set(err, EINVAL, "'%s' is not a regular file", path);
	if ((status.st_mode & 07) != 0)
		return error_set(err, EACCES,
				 "'%s' has a secret, but all users may access it: "
				 "chmod o= '%s'",
				 path, path);
	length = read(fd, secret, bytes);
	if (length < 0)
		return error_set_errno(err, ERROR_READ, path);
	if (length > 0 && secret[length - 1] == '\n')
		length--;
	if (length == 0 || (size_t)length >= bytes)
		return error_set(err, EINVAL, "'%s' is empty or too long for a secret", path);
	secret[length] = '\0';
	for (ssize_t i = 0; i < length; i++) {
		if (iscntrl((unsigned char)secret[i]))
			return error_set(err, EINVAL, "'%s' has control characters", path);
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "tools/top/top_screen.h"

#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "tools/top/top_draw.h"

#define INTERVAL_MIN_NS 500000000LL
#define INTERVAL_MAX_NS 3600000000000LL

static SCREEN *terminal;

static int64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Return the row under the cursor, in lists of images and procedures. */
static const struct top_row *selected(const struct top_screen *screen)
{
	if (screen->view->shown == TOP_CODE || screen->cursor >= top_draw_rows(screen))
		return NULL;
	return top_view_row(screen->view, screen->cursor);
}

/* struct place - the object under the cursor, which may move to another row. */
struct place {
	int64_t image;
	char *procedure;
	bool any;
};

static void note_place(const struct top_screen *screen, struct place *place)
{
	const struct top_row *row = screen->cursor > 0 ? selected(screen) : NULL;

	if (row == NULL)
		return;
	place->any = true;
	place->image = row->image;
	place->procedure = row->procedure != NULL ? strdup(row->procedure) : NULL;
}

static bool is_place(const struct place *place, const struct top_row *row)
{
	if (row->image != place->image || (row->procedure == NULL) != (place->procedure == NULL))
		return false;
	return row->procedure == NULL || strcmp(row->procedure, place->procedure) == 0;
}

/* Move the cursor to the new row of its object, unless it was on the first row. */
static void find_place(struct top_screen *screen, struct place *place)
{
	for (size_t i = 0; place->any && i < top_draw_rows(screen); i++) {
		if (is_place(place, top_view_row(screen->view, i))) {
			screen->cursor = i;
			break;
		}
	}
	free(place->procedure);
}

static void go_to_worst(struct top_screen *screen)
{
	const struct top_view *view = screen->view;

	for (size_t i = 0; i < view->table.row_count; i++) {
		if (view->order[i] != view->code.worst)
			continue;
		screen->cursor = i;
		screen->top = i > 5 ? i - 5 : 0;
	}
}

/* Read the changes; the display is unchanged if that fails. */
static void update(struct top_screen *screen)
{
	struct place place = {0};
	enum top_shown shown = screen->view->shown;

	note_place(screen, &place);
	screen->problem.message[0] = '\0';
	top_view_update(screen->view, &screen->problem);
	if (shown == screen->view->shown && shown != TOP_CODE) {
		find_place(screen, &place);
	} else {
		free(place.procedure);
		if (shown != screen->view->shown)
			screen->cursor = 0;
	}
	if (screen->view->shown == TOP_CODE && !screen->at_worst) {
		go_to_worst(screen);
		screen->at_worst = true;
	}
}

static void show(struct top_screen *screen, enum top_shown shown, const struct top_row *row)
{
	if (top_view_show(screen->view, shown, row) < 0)
		return;
	screen->cursor = screen->top = 0;
	screen->at_worst = false;
	update(screen);
}

static void enter(struct top_screen *screen)
{
	const struct top_row *row = selected(screen);

	if (row != NULL)
		show(screen, screen->view->shown == TOP_IMAGES ? TOP_PROCEDURES : TOP_CODE, row);
}

static void back(struct top_screen *screen)
{
	if (screen->view->filter[0] != '\0') {
		screen->view->filter[0] = '\0';
		top_view_arrange(screen->view);
		return;
	}
	if (screen->view->shown == TOP_IMAGES)
		return;
	top_view_back(screen->view);
	screen->cursor = screen->top = 0;
	update(screen);
}

static void set_interval(struct top_screen *screen, double factor)
{
	int64_t interval_ns = (int64_t)((double)screen->options.interval_ns * factor);

	if (interval_ns < INTERVAL_MIN_NS || interval_ns > INTERVAL_MAX_NS)
		return;
	screen->options.interval_ns = interval_ns;
	screen->next_ns = clock_ns() + interval_ns;
}

static void filter_key(struct top_screen *screen, int key)
{
	char *filter = screen->view->filter;
	size_t length = strlen(filter);

	if (key == '\n' || key == '\r' || key == KEY_ENTER || key == 27)
		screen->typing = false;
	if (key == 27)
		filter[0] = '\0';
	else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && length > 0)
		filter[length - 1] = '\0';
	else if (key >= ' ' && key < 127 && length + 1 < TOP_FILTER_BYTES)
		memcpy(filter + length, (char[]){(char)key, '\0'}, 2);
	screen->cursor = screen->top = 0;
	top_view_arrange(screen->view);
}

/* Handle keys that move the cursor. Return: true if @key is one of them. */
static bool move_key(struct top_screen *screen, int key)
{
	size_t rows = top_draw_rows(screen), page = (size_t)top_draw_height(screen);

	switch (key) {
	case KEY_DOWN:
	case 'j':
		screen->cursor += screen->cursor + 1 < rows;
		return true;
	case KEY_UP:
	case 'k':
		screen->cursor -= screen->cursor > 0;
		return true;
	case KEY_NPAGE:
		screen->cursor += page;
		screen->top += page;
		return true;
	case KEY_PPAGE:
		screen->cursor -= screen->cursor < page ? screen->cursor : page;
		return true;
	case KEY_HOME:
		screen->cursor = 0;
		return true;
	case KEY_END:
		screen->cursor = rows > 0 ? rows - 1 : 0;
		return true;
	}
	return false;
}

/* Handle keys that change the view. Return: true if @key is one of them. */
static bool view_key(struct top_screen *screen, int key)
{
	switch (key) {
	case '\n':
	case '\r':
	case KEY_ENTER:
	case KEY_RIGHT:
		enter(screen);
		return true;
	case 27:
	case KEY_LEFT:
	case KEY_BACKSPACE:
	case 127:
		back(screen);
		return true;
	case 'i':
		show(screen, TOP_IMAGES, NULL);
		return true;
	case 'p':
		show(screen, TOP_PROCEDURES, NULL);
		return true;
	case 'w':
		if (screen->view->shown == TOP_CODE)
			go_to_worst(screen);
		return true;
	case 's':
		top_view_sort_next(screen->view);
		break;
	case 'e':
		top_view_event_next(screen->view);
		break;
	case 't':
		screen->view->of_epoch = !screen->view->of_epoch;
		break;
	case 'z':
		top_counts_begin(screen->view->counts);
		screen->view->of_epoch = false;
		break;
	default:
		return false;
	}
	top_view_arrange(screen->view);
	return true;
}

static void press(struct top_screen *screen, int key)
{
	if (key == KEY_RESIZE)
		return;
	if (screen->typing) {
		filter_key(screen, key);
		return;
	}
	if (screen->help && key != 'q') {
		screen->help = false;
		return;
	}
	if (move_key(screen, key) || view_key(screen, key))
		return;
	switch (key) {
	case 'q':
		screen->done = true;
		break;
	case '/':
		screen->typing = true;
		break;
	case '+':
		set_interval(screen, 2);
		break;
	case '-':
		set_interval(screen, 0.5);
		break;
	case ' ':
		screen->paused = !screen->paused;
		break;
	case 'r':
		screen->next_ns = clock_ns();
		break;
	case 'h':
	case '?':
		screen->help = true;
		break;
	}
}

static void resize(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
		resizeterm(size.ws_row, size.ws_col);
}

static void take_signal(struct top_screen *screen)
{
	struct signalfd_siginfo info;

	if (read(screen->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	if (info.ssi_signo == SIGWINCH)
		resize();
	else
		screen->done = true;
}

static void refreshed(struct top_screen *screen)
{
	update(screen);
	screen->refreshes++;
	if (screen->options.count > 0 && screen->refreshes >= screen->options.count)
		screen->done = true;
}

/* Request that the daemon store its samples; if it cannot, read the stored ones. */
static void begin_refresh(struct top_screen *screen)
{
	bool busy = screen->flush->state != TOP_FLUSH_IDLE;

	screen->next_ns = clock_ns() + screen->options.interval_ns;
	top_flush_begin(screen->flush);
	if (busy || screen->flush->state == TOP_FLUSH_IDLE)
		refreshed(screen);
}

static int wait_for_event(struct top_screen *screen, struct error *err)
{
	struct pollfd files[] = {
		{.fd = STDIN_FILENO, .events = POLLIN},
		{.fd = screen->signals, .events = POLLIN},
		{.fd = top_flush_fd(screen->flush), .events = POLLIN},
	};
	int64_t left_ns = screen->next_ns - clock_ns();
	int timeout = screen->paused ? -1 : left_ns <= 0 ? 0 : (int)(left_ns / 1000000 + 1);
	int key;

	if (poll(files, 3, timeout) < 0 && errno != EINTR)
		return error_set_errno(err, "cannot wait for keys");
	if (files[1].revents != 0)
		take_signal(screen);
	if (files[2].revents != 0 && top_flush_receive(screen->flush, 0) == 0)
		refreshed(screen);
	/* The terminal was closed. */
	if ((files[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
		screen->done = true;
	while (!screen->done && (key = getch()) != ERR)
		press(screen, key);
	return 0;
}

static int open_signals(struct top_screen *screen, sigset_t *before, struct error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGWINCH);
	sigprocmask(SIG_BLOCK, &set, before);
	screen->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return screen->signals >= 0 ? 0 : error_set_errno(err, "cannot wait for signals");
}

int top_screen_open(bool color, struct error *err)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return 0;
	/* Character set and widths of the characters in names. */
	setlocale(LC_CTYPE, "");
	terminal = newterm(NULL, stdout, stdin);
	if (terminal == NULL)
		return error_set(err, EINVAL, "unknown terminal type (TERM)");
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	top_draw_colors(color);
	return 0;
}

void top_screen_close(void)
{
	if (terminal == NULL)
		return;
	endwin();
	delscreen(terminal);
	terminal = NULL;
}

int top_screen_run(struct top_view *view, struct top_flush *flush,
		   const struct top_screen_options *options, struct error *err)
{
	struct top_screen screen = {
		.view = view, .flush = flush, .options = *options, .signals = -1};
	sigset_t before;
	int r = open_signals(&screen, &before, err);

	if (r == 0 && terminal == NULL)
		r = error_set(err, ENOTTY, "standard output is not a terminal: use --batch");
	if (r == 0)
		screen.next_ns = clock_ns() + screen.options.interval_ns;
	while (r == 0 && !screen.done) {
		top_draw(&screen);
		r = wait_for_event(&screen, err);
		if (r == 0 && !screen.done && !screen.paused && clock_ns() >= screen.next_ns)
			begin_refresh(&screen);
	}
	top_screen_close();
	free(screen.lines);
	if (screen.signals >= 0)
		close(screen.signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}

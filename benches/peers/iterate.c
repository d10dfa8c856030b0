/* The peer's bare loop: libtracecmd reads all events in time order and makes no text.
 * cc -O2 iterate.c -o iterate $(pkg-config --cflags --libs libtracecmd) */
#include <stdio.h>
#include <time.h>
#include <trace-cmd.h>

static unsigned long long count;

static int on_event(struct tracecmd_input *handle, struct tep_record *record, int cpu, void *data)
{
	(void)handle; (void)record; (void)cpu; (void)data;
	count++;
	return 0;
}

int main(int argc, char **argv)
{
	struct timespec begin, end;
	if (argc != 2)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	struct tracecmd_input *handle = tracecmd_open(argv[1], 0);
	if (!handle)
		return 1;
	tracecmd_iterate_events(handle, NULL, 0, on_event, NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	double seconds = (end.tv_sec - begin.tv_sec) + (end.tv_nsec - begin.tv_nsec) / 1e9;
	printf("%llu events in %.3f s, %.1f M events/s\n", count, seconds, count / seconds / 1e6);
	tracecmd_close(handle);
	return 0;
}

/* Preloaded: makes the system misbehave as the environment says.
   NO_LOCKS=1    file locks are refused, as some network file systems do
   CLOCK_JUMPS=1 the time of day jumps by up to three weeks in either direction at every look */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long jump(void) {
  static unsigned long state = 1;
  if (getenv("CLOCK_JUMPS") == NULL) return 0;
  state = state * 6364136223846793005UL + 1442695040888963407UL;
  return (long)(state >> 33) % 3600000 - 1800000;
}

int flock(int fd, int operation) {
  int (*real)(int, int) = (int (*)(int, int))dlsym(RTLD_NEXT, "flock");
  if (getenv("NO_LOCKS") == NULL) return real(fd, operation);
  errno = ENOLCK;
  return -1;
}

int clock_gettime(clockid_t clock, struct timespec* at) {
  int (*real)(clockid_t, struct timespec*) =
      (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  int status = real(clock, at);
  if (clock == CLOCK_REALTIME) at->tv_sec += jump();
  return status;
}

int gettimeofday(struct timeval* at, void* zone) {
  int (*real)(struct timeval*, void*) =
      (int (*)(struct timeval*, void*))dlsym(RTLD_NEXT, "gettimeofday");
  int status = real(at, zone);
  at->tv_sec += jump();
  return status;
}

time_t time(time_t* at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at != NULL) *at = now.tv_sec;
  return now.tv_sec;
}

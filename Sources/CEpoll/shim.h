// What the Glibc module of Swift leaves out.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <netinet/tcp.h>
#include <malloc.h>
#include <sys/socket.h>
#include <pthread.h>

// Declared by these headers only under _GNU_SOURCE, which must be set before the first header of all.
extern int accept4(int socket, struct sockaddr *address, socklen_t *size, int flags);
extern int pthread_setname_np(pthread_t thread, const char *name);

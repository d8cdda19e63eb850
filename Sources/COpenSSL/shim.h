#include "tls.h"
#include "x509.h"

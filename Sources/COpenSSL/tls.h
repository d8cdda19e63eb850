// Macros of OpenSSL's TLS headers that Swift cannot import.
#pragma once
#include <openssl/ssl.h>
#include <openssl/err.h>

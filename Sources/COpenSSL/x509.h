// Macros of OpenSSL's X.509, PKCS#12 and CMS headers that Swift cannot import.
#pragma once
#include <openssl/x509v3.h>
#include <openssl/pkcs12.h>
#include <openssl/cms.h>
#include <openssl/pem.h>
#include <openssl/evp.h>
#include <openssl/ec.h>
#include <openssl/kdf.h>
#include <openssl/core_names.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/err.h>

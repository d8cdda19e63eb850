// Room OpenSSL.

// Room Certificates.

// Room Providers.

// Room Mustache.

// Room Store.

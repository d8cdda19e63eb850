// Room Arguments.

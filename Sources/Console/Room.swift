// Room Console.

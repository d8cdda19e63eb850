// Room Delivery.

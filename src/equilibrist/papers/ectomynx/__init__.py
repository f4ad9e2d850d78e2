"""EctomynX (MIT Pokerbots): no-limit hold'em with discards."""

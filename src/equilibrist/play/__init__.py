"""The table and what is played at it: hands, matches, tournaments."""

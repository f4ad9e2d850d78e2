"""GS3 (2007): potential-aware abstraction, and the two-phase player GS2."""

"""What a bot is: the registry, its folder, and how it is trained."""

"""Range of Skill (2007): generalized best responses and SmallBot2298."""

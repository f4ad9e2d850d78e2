"""Range of Skill (2007): generalized best responses, SmallBot2298."""

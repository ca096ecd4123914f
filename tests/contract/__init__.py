"""The built program held to its outward contract, end to end over real session files."""

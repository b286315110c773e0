"""The case studies of the paper, end to end."""

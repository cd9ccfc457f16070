"""Pictures of plans and releases: each takes a matplotlib axes and returns what it shows in words."""

"""What the service does, without HTTP: the JSON interface and the pages call these functions and nothing below them."""

"""What whoever runs a service does beside serving: look how it stands, copy it, put a copy in place, let an analyst in again."""

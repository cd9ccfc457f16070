"""Connections, locks and rights of a database, and the one chain of migrations for all tables in it."""

"""Rooms kept in a database: SQLite in one file by default, PostgreSQL by one URL; SQLAlchemy stays in this folder."""

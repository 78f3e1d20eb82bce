"""The migrations add up to the tables that the queries use."""

from __future__ import annotations

from sqlalchemy import inspect

from core.storage.engine import open_database
from core.storage.tables import METADATA


def test_the_migrated_schema_has_the_tables_and_columns_of_the_code(url):
    engine = open_database(url)
    found = inspect(engine)
    assert set(found.get_table_names()) == set(METADATA.tables)
    for name, table in METADATA.tables.items():
        columns = {column["name"]: column for column in found.get_columns(name)}
        assert list(columns) == [column.name for column in table.columns]
        keys = found.get_pk_constraint(name)["constrained_columns"]
        assert keys == [column.name for column in table.primary_key]
        for column in table.columns:
            assert columns[column.name]["nullable"] == bool(column.nullable) or column.primary_key, column
    engine.dispose()


def test_rooms_are_found_by_address_and_by_expiry(url):
    engine = open_database(url)
    assert {index["name"] for index in inspect(engine).get_indexes("rooms")} == {"rooms_by_address", "rooms_by_expiry"}
    engine.dispose()

"""Which database is opened, and what is said where it cannot be."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest
from sqlalchemy import text

from core.storage.engine import database_url, migrate, open_database, reading, writing
from core.storage.errors import Away, Full, Locked, StorageError
from core.storage.rooms import Draft, RoomStore
from core.storage.tables import MIGRATIONS


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch, tmp_path):
    monkeypatch.delenv("RIDGEPOINT_DATABASE", raising=False)
    monkeypatch.delenv("RIDGEPOINT_DATA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def test_without_a_setting_the_rooms_lie_in_the_users_data_folder(tmp_path):
    assert str(database_url()) == f"sqlite:///{tmp_path}/data/ridgepoint/rooms.db"
    assert str(database_url(folder=tmp_path)) == f"sqlite:///{tmp_path}/rooms.db"


def test_the_environment_sets_the_folder_or_the_whole_address(monkeypatch):
    monkeypatch.setenv("RIDGEPOINT_DATA", "/somewhere")
    assert database_url().database == "/somewhere/rooms.db"
    monkeypatch.setenv("RIDGEPOINT_DATABASE", "postgres://me@host/name")
    assert database_url().drivername == "postgresql+psycopg"
    assert database_url("sqlite:////x/y.db").database == "/x/y.db"


@pytest.mark.parametrize("given", ["nonsense", "mysql://host/name", "sqlite://", "sqlite:///:memory:", "://"])
def test_what_is_no_address_is_refused_in_words(given):
    with pytest.raises(Away, match="RIDGEPOINT_DATABASE is not the address of a database"):
        database_url(given)


def test_a_sqlite_file_is_written_ahead_and_to_the_disk(tmp_path):
    engine = open_database(f"sqlite:///{tmp_path}/deep/er/rooms.db")
    with reading(engine) as connection:
        found = [connection.execute(text(f"PRAGMA {name}")).scalar() for name in ("journal_mode", "synchronous")]
    assert found == ["wal", 2]
    engine.dispose()


def test_a_database_is_opened_again_with_what_is_in_it(url):
    first = RoomStore.open(url)
    room = first.create_room(Draft("interviewer", "opened", {"a": 1})).room
    first.engine.dispose()
    again = RoomStore.open(url)
    assert again.events(room)[0].payload == {"a": 1}
    again.engine.dispose()


def test_an_older_schema_is_brought_forward_with_its_rows(url):
    engine = open_database(url)
    with writing(engine) as connection:
        connection.execute(text("DROP INDEX rooms_by_address"))
        connection.execute(text("DROP INDEX rooms_by_expiry"))
        connection.execute(text("UPDATE meta SET value = '1' WHERE key = 'version'"))
    room = RoomStore(engine).create_room().room
    engine.dispose()
    newer = open_database(url)
    with writing(newer) as connection:
        assert migrate(connection) == len(MIGRATIONS) == 2
    assert RoomStore(newer).revision(room) == 0
    newer.dispose()


def test_a_newer_schema_is_refused_in_words_and_left_alone(url):
    engine = open_database(url)
    with writing(engine) as connection:
        connection.execute(text("UPDATE meta SET value = '99' WHERE key = 'version'"))
    with pytest.raises(StorageError, match=r"newer version \(schema 99, this one knows 2\)"):
        open_database(url)
    with reading(engine) as connection:
        assert connection.execute(text("SELECT value FROM meta WHERE key = 'version'")).scalar() == "99"
    engine.dispose()


def test_a_migration_that_fails_leaves_the_old_schema(url, monkeypatch):
    engine = open_database(url)
    monkeypatch.setattr(
        "core.storage.engine.MIGRATIONS", (*MIGRATIONS, ("CREATE TABLE extra (id INTEGER)", "NONSENSE"))
    )
    with pytest.raises(StorageError), writing(engine) as connection:
        migrate(connection, to=3)
    with writing(engine) as connection:
        assert connection.execute(text("SELECT value FROM meta WHERE key = 'version'")).scalar() == "2"
        connection.execute(text("CREATE TABLE extra (id INTEGER)"))  # was rolled back: it is not there
    engine.dispose()


def test_a_locked_database_says_so_after_the_wait_and_nothing_is_written(url):
    engine = open_database(url, wait_s=0.2)
    store = RoomStore(engine)
    room = store.create_room().room
    with writing(engine) as holder:
        holder.execute(text("UPDATE rooms SET revision = revision"))
        with pytest.raises(Locked, match=r"busy\. Nothing was saved"):
            store.append(room, "candidate", "note", {}, client_id="a")
        assert store.revision(room) == 0  # readers do not wait
    assert store.append(room, "candidate", "note", {}, client_id="a") == 1
    engine.dispose()


def test_a_failure_is_logged_with_the_operation_it_was_in(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr("core.storage.errors._logged", {})
    store = RoomStore(open_database(f"sqlite:///{tmp_path}/rooms.db", wait_s=0.1))
    room = store.create_room().room
    with writing(store.engine):
        for _ in range(2):
            with pytest.raises(Locked):
                store.append(room, "candidate", "note", {}, client_id="a")
    assert [record.getMessage() for record in caplog.records] == [
        "Rooms: Locked in append (OperationalError, SQLITE_BUSY)"
    ]
    store.engine.dispose()


def test_a_pool_that_is_used_up_says_busy(tmp_path):
    engine = open_database(f"sqlite:///{tmp_path}/rooms.db", wait_s=0.1)
    held = [engine.connect() for _ in range(16)]
    with pytest.raises(Locked), reading(engine):
        pass
    for connection in held:
        connection.close()
    engine.dispose()


def test_no_file_that_can_be_opened_is_said_in_words(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(Away, match="folder of the rooms cannot be made"):
        open_database(f"sqlite:///{tmp_path}/file/rooms.db")
    (tmp_path / "folder.db").mkdir()
    with pytest.raises(Away, match="cannot be reached"):
        open_database(f"sqlite:///{tmp_path}/folder.db")
    (tmp_path / "other.db").write_bytes(b"not a database at all " * 100)
    with pytest.raises(Away, match="damaged, or is no database"):
        open_database(f"sqlite:///{tmp_path}/other.db")


def test_a_server_that_is_not_there_is_said_in_words(tmp_path):
    with pytest.raises(Away, match="cannot be reached"):
        open_database(f"postgresql://nobody@/none?host={tmp_path}")


def test_a_full_disk_is_said_in_words_and_the_rest_stays(tmp_path):
    path = tmp_path / "rooms.db"
    store = RoomStore.open(f"sqlite:///{path}")
    room = store.create_room().room
    store.append(room, "candidate", "note", {"text": "kept"}, client_id="kept")
    pages = sqlite3.connect(path).execute("PRAGMA page_count").fetchone()[0]
    with writing(store.engine) as connection:
        connection.execute(text(f"PRAGMA max_page_count = {pages}"))  # of this connection, the pool's only one so far

    def write_until_full() -> None:
        for number in range(50):
            store.append(room, "candidate", "note", {"text": "x" * 60_000}, client_id=f"c{number}")

    with pytest.raises(Full, match="disk with the rooms is full"):
        write_until_full()
    log = store.events(room)
    assert log[0].payload == {"text": "kept"}
    assert [event.seq for event in log] == list(range(1, store.revision(room) + 1))
    store.engine.dispose()


def test_a_server_that_went_away_and_came_back_is_reached_again(postgresql_server):
    store = RoomStore.open(postgresql_server)
    room = store.create_room().room
    with writing(store.engine) as connection:
        own = connection.execute(text("SELECT pg_backend_pid()")).scalar()
    other = open_database(postgresql_server)
    with writing(other) as connection:
        others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND pid = :pid"
        connection.execute(text(others), {"pid": own})
    assert store.append(room, "candidate", "note", {}, client_id="a") == 1
    for engine in (store.engine, other):
        engine.dispose()


def test_one_engine_serves_many_threads(url):
    store = RoomStore.open(url)
    room = store.create_room().room
    faults: list[BaseException] = []

    def poll() -> None:
        try:
            for _ in range(20):
                store.revision(room)
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=poll) for _ in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    store.engine.dispose()


def test_the_folder_is_made_where_it_is_missing(tmp_path):
    open_database(folder=tmp_path / "new").dispose()
    assert Path(tmp_path / "new" / "rooms.db").exists()


def test_what_people_wrote_stands_in_no_error_that_may_end_in_a_log(url):
    store = RoomStore.open(url)
    room = store.create_room().room
    with writing(store.engine) as connection:
        connection.execute(text("DROP TABLE events"))
    with pytest.raises(StorageError) as refused:
        store.append(room, "interviewer", "note", {}, client_id="sent-with-it")
    told = str(refused.value.__cause__)
    assert "events" in told
    assert "sent-with-it" not in told
    store.engine.dispose()

"""What a program on psycopg 3 does with a server: with_psycopg3.py URL."""
import sys
import time
from datetime import datetime, timezone
from decimal import Decimal
from uuid import UUID

import psycopg
from psycopg.types import TypeInfo
from psycopg.types.json import Jsonb

conn = psycopg.connect(sys.argv[1])
cur = conn.cursor()
cur.execute("CREATE TABLE d (id int PRIMARY KEY, t text, n numeric, at timestamptz, u uuid, j jsonb, ints int[], texts text[])")
conn.commit()
cur.execute("SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = %s ORDER BY 1", ("public",))
print([r[0] for r in cur])
cur.execute("SELECT * FROM d")
print([(c.name, c.type_code, c.precision) for c in cur.description])
for name in ("int4", "jsonb", "text[]"):
    info = TypeInfo.fetch(conn, name)
    print(info.name, info.oid, info.array_oid)

at = datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=timezone.utc)
row = (1, "one", Decimal("1.50"), at, UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8"), Jsonb({"a": [1, None]}), [1, None, 3], ["x", "y z", None, ""])
marks = ", ".join(["%s"] * 8)
cur.execute(f"INSERT INTO d VALUES ({marks})", row)
cur.execute(f"INSERT INTO d VALUES ({marks})", (2,) + (None,) * 7)
cur.executemany("INSERT INTO d (id, t) VALUES (%s, %s)", [(i, f"n{i}") for i in range(10, 13)])
conn.commit()
for binary in (False, True):
    with conn.cursor(binary=binary) as c:
        c.execute("SELECT * FROM d WHERE id = ANY(%s) ORDER BY id", ([1, 2],))
        for r in c:
            print([v.isoformat() if isinstance(v, datetime) else v for v in (x.astimezone(timezone.utc) if isinstance(x, datetime) else x for x in r)])

with cur.copy("COPY d (id, t, n) FROM STDIN") as copy:
    copy.write_row((3, "three", Decimal("3.25")))
    copy.write_row((4, None, None))
with cur.copy("COPY d (id, t) FROM STDIN (FORMAT binary)") as copy:
    copy.set_types(["int4", "text"])
    copy.write_row((5, "five"))
conn.commit()
with cur.copy("COPY (SELECT id, t FROM d WHERE id < 6 ORDER BY id) TO STDOUT") as copy:
    print([r for r in copy.rows()])
conn.commit()

rows = 0
with conn.cursor() as c:
    stream = c.stream("SUBSCRIBE d")
    for r in stream:
        rows += 1
        if rows == 8:
            break
    began = time.monotonic()
    conn.cancel()
    try:
        stream.close()
    except psycopg.Error:
        pass  # the cancelled statement says so
conn.rollback()
print(rows, conn.execute("SELECT count(*) FROM d").fetchone()[0], time.monotonic() - began < 1)
conn.close()

"""What a program on psycopg 2 does with a server: with_psycopg2.py URL."""
import io
import sys
import time
from datetime import datetime, timezone
from decimal import Decimal
from uuid import UUID

import psycopg2
import psycopg2.extras

psycopg2.extras.register_uuid()
conn = psycopg2.connect(sys.argv[1])
cur = conn.cursor()
cur.execute("CREATE TABLE d (id int PRIMARY KEY, t text, n numeric, at timestamptz, u uuid, j jsonb, ints int[], texts text[])")
conn.commit()
cur.execute("SELECT column_name, data_type FROM information_schema.columns WHERE table_name = %s ORDER BY ordinal_position", ("d",))
print(cur.fetchall())
at = datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=timezone.utc)
row = (1, "one", Decimal("1.50"), at, UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8"), psycopg2.extras.Json({"a": [1, None]}), [1, None, 3], ["x", "y z", None, ""])
marks = ", ".join(["%s"] * 8)
cur.execute(f"INSERT INTO d VALUES ({marks})", row)
cur.execute(f"INSERT INTO d VALUES ({marks})", (2,) + (None,) * 7)
psycopg2.extras.execute_values(cur, "INSERT INTO d (id, t) VALUES %s", [(10, "a"), (11, "b")])
conn.commit()
cur.execute("SELECT * FROM d WHERE id = ANY(%s) ORDER BY id", ([1, 2],))
for r in cur.fetchall():
    print([v.astimezone(timezone.utc).isoformat() if isinstance(v, datetime) else v for v in r])
cur.copy_expert("COPY d (id, t) FROM STDIN", io.StringIO("3\tthree\n4\t\\N\n"))
conn.commit()
out = io.StringIO()
cur.copy_expert("COPY (SELECT id, t FROM d WHERE id < 5 ORDER BY id) TO STDOUT (FORMAT csv)", out)
print(repr(out.getvalue()))
conn.commit()
named = conn.cursor("c")  # DECLARE c CURSOR, FETCH FORWARD
named.itersize = 2
named.execute("SELECT id FROM d ORDER BY id")
print([r[0] for r in named])
named.close()
conn.commit()
cur.execute("DECLARE s CURSOR FOR SUBSCRIBE d")
cur.execute("FETCH 6 s")
rows = len(cur.fetchall())
began = time.monotonic()
cur.execute("CLOSE s")
conn.rollback()
cur.execute("SELECT count(*) FROM d")
print(rows, cur.fetchone()[0], time.monotonic() - began < 1)
conn.close()

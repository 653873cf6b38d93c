"""What SQLAlchemy's reflection asks a server: alchemy.py URL."""
import sys

import sqlalchemy as sa

engine = sa.create_engine(sys.argv[1].replace("postgres://", "postgresql+psycopg2://"))
with engine.begin() as c:
    c.execute(sa.text("CREATE TABLE parent (id int PRIMARY KEY, name varchar(40) NOT NULL DEFAULT 'x', n numeric(10,2), at timestamptz DEFAULT now(), tags text[])"))
    c.execute(sa.text("COMMENT ON TABLE parent IS 'a comment'"))
    c.execute(sa.text("CREATE VIEW names AS SELECT name FROM parent"))
look = sa.inspect(engine)
print(look.get_schema_names())
print(look.get_table_names(), look.get_view_names())
for col in look.get_columns("parent"):
    print(col["name"], col["type"], col["nullable"], col["default"])
print(look.get_pk_constraint("parent"), look.get_foreign_keys("parent"), look.get_indexes("parent"), look.get_unique_constraints("parent"), look.get_check_constraints("parent"))
print(look.get_table_comment("parent"))
print(look.get_enums() if hasattr(look, "get_enums") else None)
print(look.has_table("parent"), look.has_table("nope"))
meta = sa.MetaData()
meta.reflect(engine)
t = meta.tables["parent"]
with engine.begin() as c:
    c.execute(t.insert(), [{"id": 1, "name": "a", "tags": None}, {"id": 2, "name": "b", "tags": ["x"]}])
    print(c.execute(sa.select(t.c.id, t.c.name, t.c.tags).where(t.c.id.in_([1, 2])).order_by(t.c.id)).fetchall())

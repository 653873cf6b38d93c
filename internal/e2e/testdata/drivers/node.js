// What a program on node-postgres does with a server: node.js URL.
const { Client } = require('pg');
const Cursor = require('pg-cursor');
const copy = require('pg-copy-streams');
const { pipeline } = require('node:stream/promises');
const { Readable } = require('node:stream');

const show = (v) => console.log(JSON.stringify(v));

async function main() {
  const client = new Client({ connectionString: process.argv[2] });
  await client.connect();
  await client.query(`CREATE TABLE d (id int PRIMARY KEY, t text, n numeric, at timestamptz, u uuid, j jsonb, ints int[], texts text[])`);

  const tables = await client.query(`SELECT table_name FROM information_schema.tables WHERE table_schema = $1 ORDER BY 1`, ['public']);
  show(tables.rows.map((r) => r.table_name));
  const columns = await client.query(
    `SELECT column_name, udt_name, is_nullable FROM information_schema.columns WHERE table_name = $1 ORDER BY ordinal_position`, ['d']);
  show(columns.rows.map((r) => [r.column_name, r.udt_name, r.is_nullable]));

  const insert = 'INSERT INTO d VALUES ($1, $2, $3, $4, $5, $6, $7, $8)';
  await client.query(insert, [1, 'one', '1.50', new Date('2026-11-30T12:00:00.123Z'), '6ba7b810-9dad-11d1-80b4-00c04fd430c8', { a: [1, null] },
    [1, null, 3], ['x', 'y z', null, '']]);
  await client.query(insert, [2, null, null, null, null, null, null, null]);
  const back = await client.query({ name: 'read', text: 'SELECT * FROM d WHERE id <= $1 ORDER BY id', values: [2] });
  show(back.rows);
  show(back.fields.map((f) => f.dataTypeID));

  await pipeline(Readable.from(['3\tthree\t3\t\\N\t\\N\t\\N\t{}\t\\N\n', '4\tfour\t4\t\\N\t\\N\t\\N\t\\N\t\\N\n']), client.query(copy.from('COPY d FROM STDIN')));
  let out = '';
  for await (const chunk of client.query(copy.to('COPY (SELECT id, t, ints FROM d ORDER BY id) TO STDOUT (FORMAT csv)'))) out += chunk;
  show(out);

  const cursor = client.query(new Cursor('SUBSCRIBE d'));
  const rows = await cursor.read(2);
  const began = Date.now();
  await cursor.close();
  const after = await client.query('SELECT count(*)::int AS n FROM d');
  show([rows.length, after.rows[0].n, Date.now() - began < 1000]);
  await client.end();
}

main().catch((e) => {
  console.error(e);
  process.exit(1);
});

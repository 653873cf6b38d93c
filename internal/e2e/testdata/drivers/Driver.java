import java.io.StringReader;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.Statement;
import java.sql.Types;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.UUID;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

/** What a program on JDBC does with a server: java Driver.java URL USER. */
public class Driver {
    public static void main(String[] args) throws Exception {
        try (Connection c = DriverManager.getConnection(args[0], args[1], "")) {
            try (Statement s = c.createStatement()) {
                s.execute("CREATE TABLE d (id int PRIMARY KEY, t text, n numeric(10,2), at timestamptz, u uuid, j jsonb, ints int[], texts text[])");
            }
            metadata(c.getMetaData());
            write(c);
            read(c);
            copy(c);
            subscribe(c);
        }
    }

    static void metadata(DatabaseMetaData m) throws Exception {
        print("tables", m.getTables(null, "public", "%", new String[] {"TABLE"}), "TABLE_NAME", "TABLE_TYPE");
        print("columns", m.getColumns(null, "public", "d", "%"), "COLUMN_NAME", "TYPE_NAME", "COLUMN_SIZE", "NULLABLE", "ORDINAL_POSITION");
        print("key", m.getPrimaryKeys(null, "public", "d"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME");
        print("index", m.getIndexInfo(null, "public", "d", true, false), "INDEX_NAME", "COLUMN_NAME", "NON_UNIQUE");
        print("imported", m.getImportedKeys(null, "public", "d"), "FKCOLUMN_NAME");
        print("schemas", m.getSchemas(null, "pub%"), "TABLE_SCHEM");
        print("catalogs", m.getCatalogs(), "TABLE_CAT");
        print("functions", m.getFunctions(null, "public", "%"), "FUNCTION_NAME");
        print("privileges", m.getTablePrivileges(null, "public", "d"), "PRIVILEGE");
        print("version columns", m.getVersionColumns(null, "public", "d"), "COLUMN_NAME");
        print("best row", m.getBestRowIdentifier(null, "public", "d", DatabaseMetaData.bestRowSession, true), "COLUMN_NAME");
        print("udts", m.getUDTs(null, "public", "%", null), "TYPE_NAME");
        int types = 0;
        try (ResultSet r = m.getTypeInfo()) {
            while (r.next()) {
                types++;
            }
        }
        System.out.println("types: " + (types > 50));
        System.out.println("max name: " + m.getMaxTableNameLength());
    }

    static void print(String what, ResultSet r, String... names) throws Exception {
        StringBuilder b = new StringBuilder(what + ":");
        while (r.next()) {
            b.append(" ");
            for (int i = 0; i < names.length; i++) {
                b.append(i == 0 ? "" : "/").append(r.getString(names[i]));
            }
        }
        r.close();
        System.out.println(b);
    }

    static void write(Connection c) throws Exception {
        try (PreparedStatement p = c.prepareStatement("INSERT INTO d VALUES (?, ?, ?, ?, ?, ?::jsonb, ?, ?)")) {
            p.setInt(1, 1);
            p.setString(2, "one");
            p.setBigDecimal(3, new BigDecimal("1.50"));
            p.setObject(4, OffsetDateTime.parse("2026-11-30T12:00:00.123456Z"));
            p.setObject(5, UUID.fromString("6ba7b810-9dad-11d1-80b4-00c04fd430c8"));
            p.setString(6, "{\"a\": [1, null]}");
            p.setArray(7, c.createArrayOf("int4", new Integer[] {1, null, 3}));
            p.setArray(8, c.createArrayOf("text", new String[] {"x", "y z", null, ""}));
            p.executeUpdate();
            p.setInt(1, 2);
            for (int i = 2; i <= 8; i++) {
                p.setNull(i, i == 3 ? Types.NUMERIC : Types.OTHER);
            }
            p.executeUpdate();
        }
    }

    static void read(Connection c) throws Exception {
        try (PreparedStatement p = c.prepareStatement("SELECT * FROM d WHERE id <= ? ORDER BY id")) {
            for (int round = 0; round < 7; round++) { // from the sixth on the driver asks for binary results
                p.setInt(1, 2);
                try (ResultSet r = p.executeQuery()) {
                    while (r.next()) {
                        Object ints = r.getArray(7) == null ? null : Arrays.toString((Object[]) r.getArray(7).getArray());
                        Object texts = r.getArray(8) == null ? null : Arrays.toString((Object[]) r.getArray(8).getArray());
                        String line = r.getInt(1) + "|" + r.getString(2) + "|" + r.getBigDecimal(3) + "|" + r.getObject(4, OffsetDateTime.class) + "|" + r.getObject(5) + "|"
                            + r.getString(6) + "|" + ints + "|" + texts;
                        if (round == 0 || round == 6) {
                            System.out.println(line);
                        }
                    }
                    ResultSetMetaData m = r.getMetaData();
                    if (round == 0) {
                        System.out.println(m.getColumnTypeName(1) + "/" + m.getTableName(3) + "/" + m.getPrecision(3) + "/" + m.isNullable(1) + "/" + m.getColumnTypeName(8));
                    }
                }
            }
        }
    }

    static void copy(Connection c) throws Exception {
        CopyManager m = c.unwrap(PGConnection.class).getCopyAPI();
        System.out.println("in: " + m.copyIn("COPY d FROM STDIN", new StringReader("3\tthree\t3\t\\N\t\\N\t\\N\t{}\t\\N\n4\tfour\t4\t\\N\t\\N\t\\N\t\\N\t\\N\n")));
        StringWriter w = new StringWriter();
        m.copyOut("COPY (SELECT id, t, ints FROM d ORDER BY id) TO STDOUT (FORMAT csv)", w);
        System.out.print(w);
    }

    static void subscribe(Connection c) throws Exception {
        c.setAutoCommit(false);
        Statement s = c.createStatement();
        s.setFetchSize(2);
        ResultSet r = s.executeQuery("SUBSCRIBE d");
        int n = 0;
        while (n < 4 && r.next()) {
            n++;
        }
        long began = System.nanoTime();
        r.close();
        s.close();
        c.rollback();
        c.setAutoCommit(true);
        try (Statement t = c.createStatement(); ResultSet q = t.executeQuery("SELECT count(*) FROM d")) {
            q.next();
            System.out.println("subscribed: " + n + " " + q.getInt(1) + " " + (System.nanoTime() - began < 1_000_000_000L));
        }
    }
}

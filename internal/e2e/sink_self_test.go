package e2e

import (
	"fmt"
	"testing"
)

// TestSinkMindsReferencesToItself: rows of a table that refer to others of it come and go in one transaction, in whatever order they were written.
func TestSinkMindsReferencesToItself(t *testing.T) {
	onBothTargets(t, func(t *testing.T, s *server, into string, to target) {
		c := s.connect(t)
		c.run("CREATE TABLE staff (id int PRIMARY KEY, boss int)")
		c.run("INSERT INTO staff SELECT g, CASE WHEN g < 70000 THEN g + 1 END FROM generate_series(50000, 70000) g")
		to.Exec(t, "CREATE TABLE staff (id int NOT NULL PRIMARY KEY, boss int, FOREIGN KEY (boss) REFERENCES staff (id))")
		c.run("CREATE SINK copy FROM staff INTO " + into + " WITH (ON CONFLICT = 'overwrite')")
		c.caughtUp("copy")
		check := func() {
			t.Helper()
			c.caughtUp("copy")
			sameRows(t, c, to, "SELECT * FROM staff")
		}
		c.run("BEGIN; INSERT INTO staff VALUES (1, 9), (2, 1), (3, 2); INSERT INTO staff VALUES (9, NULL); COMMIT")
		check()
		c.run("BEGIN; UPDATE staff SET boss = 10 WHERE id = 9; INSERT INTO staff VALUES (10, 11), (11, NULL); COMMIT")
		check()
		c.run("DELETE FROM staff WHERE id IN (9, 1, 2, 3)")
		check()
		c.run("INSERT INTO staff SELECT g, CASE WHEN g < 500 THEN g + 1 END FROM generate_series(100, 500) g") // a chain, the last one first
		check()
		c.run("BEGIN; UPDATE staff SET boss = NULL WHERE id = 299; DELETE FROM staff WHERE id BETWEEN 300 AND 500; COMMIT")
		check()
		for i := range 20 {
			c.run(fmt.Sprintf("BEGIN; UPDATE staff SET boss = %d WHERE id = 100; INSERT INTO staff VALUES (%[1]d, %d); INSERT INTO staff VALUES (%[2]d, NULL); COMMIT", 1000+2*i, 1001+2*i))
		}
		check()
		c.run("DELETE FROM staff WHERE id < 50050")
		check()
	})
}

package e2e

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestKillSink kills the server at random moments while it feeds a table with a key, one without, and changes of their columns into a target that counts in a trigger
// how often a row came: nothing is lost, nothing comes twice.
func TestKillSink(t *testing.T) {
	rounds := 6
	if long {
		rounds = 100
	}
	onBothTargets(t, func(t *testing.T, s *server, into string, to target) {
		c := s.connect(t)
		c.run("CREATE TABLE keyed (id int PRIMARY KEY, n int, v text)")
		c.run("CREATE TABLE bag (v text, n int)")
		c.run("INSERT INTO keyed SELECT g, 0, 'v' FROM generate_series(1, 20000) g")
		c.run("CREATE SINK copy FROM keyed, bag INTO " + into)
		c.caughtUp("copy")
		to.Exec(t, "CREATE TABLE counter (n bigint)")
		to.Exec(t, "INSERT INTO counter VALUES (0)")
		countInserts(t, to)
		rng := rand.New(rand.NewPCG(1, 2))
		columns := 0
		for round := range rounds {
			ended := make(chan struct{})
			w := s.connect(t)
			go func() { // until the server dies
				defer close(ended)
				for i := 0; ; i++ {
					sql := fmt.Sprintf("BEGIN; UPDATE keyed SET n = n + 1 WHERE id %% 97 = %d; INSERT INTO bag (v, n) SELECT 'r%d', g FROM generate_series(1, 20) g; COMMIT", i%97, round)
					if i%10 == 9 {
						columns++
						sql = fmt.Sprintf("ALTER TABLE keyed ADD COLUMN c%d int DEFAULT %[1]d; ALTER TABLE bag ADD COLUMN c%[1]d int", columns)
						if columns%2 == 0 {
							sql = fmt.Sprintf("ALTER TABLE keyed DROP COLUMN c%d", columns-1)
						}
					}
					if _, _, err := w.try(sql); err != nil {
						return
					}
				}
			}()
			<-time.After(time.Duration(rng.IntN(int(400 * time.Millisecond))))
			s.kill()
			<-ended
			s = startIn(t, s.dir)
			c = s.connect(t)
		}
		c.run("INSERT INTO bag (v, n) VALUES ('last', 0)")
		c.caughtUp("copy")
		sameRows(t, c, to, "SELECT * FROM keyed")
		sameRows(t, c, to, "SELECT v, n, count(*) FROM bag GROUP BY v, n")
		rows, counted := to.Query(t, "SELECT count(*) FROM bag")[0][0], to.Query(t, "SELECT n FROM counter")[0][0]
		if rows != counted {
			t.Errorf("inserts counted at the target: got %s, want %s, one for each row", counted, rows)
		}
	})
}

// countInserts makes a trigger that counts the inserts into bag.
func countInserts(t testing.TB, to target) {
	if to.Query(t, "SELECT version()")[0][0][0] != 'P' {
		to.Exec(t, "CREATE TRIGGER counting AFTER INSERT ON bag FOR EACH ROW UPDATE counter SET n = n + 1")
		return
	}
	to.Exec(t, "CREATE FUNCTION counting() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE public.counter SET n = n + 1; RETURN NULL; END $$")
	to.Exec(t, "CREATE TRIGGER counting AFTER INSERT ON bag FOR EACH ROW EXECUTE FUNCTION counting()")
}
